"""Files that commands read: tables, prices, groups."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hyperdfs.errors import DataNotFoundError, InputError, MissingExtraError
from hyperdfs.features import suggest

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
PARQUET = (".parquet", ".pq")
MOST_CLASSES = 100


def read_table(path: Path) -> pd.DataFrame:
    """A CSV, TSV or Parquet file, told by its suffix (``.gz`` may follow the first two)."""
    _need_file(path, "A table")
    suffix = Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()
    if suffix in PARQUET:
        return _read_parquet(path)
    if suffix not in SEPARATORS:
        raise InputError(
            f"A table must be a .csv, .tsv or .parquet file, got {path.name}; rename or convert it."
        )
    try:
        table = pd.read_csv(path, sep=SEPARATORS[suffix], skipinitialspace=True)
    except (ValueError, OSError) as error:  # pandas' parser errors and bad encodings are these
        raise InputError(f"{path} cannot be read as a table: {error}.") from None
    if table.empty:
        raise InputError(f"A table needs rows and columns, {path} has none.")
    return table


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except ImportError:
        raise MissingExtraError(
            "Reading Parquet needs pyarrow; install hyperdfs[parquet] or convert the file to CSV."
        ) from None
    except (ValueError, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}.") from None


def split_target(table: pd.DataFrame, target: str) -> tuple[pd.DataFrame, np.ndarray, int]:
    """Features, labels, and how many rows were left out because they have no label."""
    need_columns(table, [target])
    known = table[target].notna()
    if not known.any():
        raise InputError(f"Column {target!r} must hold labels, all its cells are empty.")
    return (
        table[known].drop(columns=target),
        labels_of(table.loc[known, target]),
        int((~known).sum()),
    )


def labels_of(column: pd.Series) -> np.ndarray:
    """Class labels as integers, booleans or text."""
    if pd.api.types.is_bool_dtype(column):
        return column.to_numpy(bool)
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(float)
        if (values == np.round(values)).all():
            return values.astype(np.int64)
        if len(np.unique(values)) > MOST_CLASSES:
            raise InputError(
                f"Column {column.name!r} must hold classes, got {len(np.unique(values))} different "
                "decimal numbers; cut them into classes first."
            )
    return column.astype(str).to_numpy(str)


def need_columns(table: pd.DataFrame, names: Iterable[str]) -> None:
    for name in names:
        if name not in table.columns:
            raise InputError(
                f"The table has no column {name!r}; {suggest(name, list(table.columns))}"
            )


def read_costs(path: Path) -> dict[str, float]:
    """Prices: a JSON or TOML mapping, or a CSV whose first two columns are feature and price."""
    if path.suffix.lower() != ".csv":
        content = _read_mapping(path, "Prices")
    else:
        table = read_table(path)
        if table.shape[1] < 2:
            raise InputError(f"Prices need two columns, feature and price; {path} has one.")
        content = dict(zip(table.iloc[:, 0].astype(str), table.iloc[:, 1], strict=True))
    try:
        return {str(name): float(price) for name, price in content.items()}
    except (TypeError, ValueError):
        raise InputError(f"Every price must be one number, {path} has something else.") from None


def read_groups(path: Path) -> dict[str, list[str]]:
    """Columns that are bought together: a JSON or TOML mapping from name to list."""
    content = _read_mapping(path, "Groups")
    for name, members in content.items():
        if not isinstance(members, list) or not all(isinstance(m, str) for m in members):
            raise InputError(
                f"A group must be a list of column names, {path} gives {name!r} as {members!r}."
            )
    return content


def _read_mapping(path: Path, what: str) -> dict[str, Any]:
    _need_file(path, what)
    readers = {".json": json.loads, ".toml": tomllib.loads}
    if path.suffix.lower() not in readers:
        raise InputError(f"{what} must come from a .json or .toml file, got {path.name}.")
    try:
        content = readers[path.suffix.lower()](path.read_text(encoding="utf-8"))
    except ValueError as error:  # both formats' errors and bad encodings
        raise InputError(f"{path} cannot be read: {error}.") from None
    if not isinstance(content, dict):
        raise InputError(
            f"{what} must be a mapping by name, {path} holds {type(content).__name__}."
        )
    return content


def _need_file(path: Path, what: str) -> None:
    if not path.is_file():
        raise DataNotFoundError(f"{what} must be a file, there is none at {path}; check the path.")
