"""Tables in a user's files: rows, labels and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from hyperdfs.errors import DataNotFoundError, InputError, MissingExtraError, suggest

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
PARQUET = (".parquet", ".pq")
MOST_CLASSES = 100


def read_table(path: Path, missing: Sequence[str] | None = None) -> pd.DataFrame:
    """A CSV, TSV or Parquet file, told by its suffix (``.gz`` may follow the first two).

    ``missing`` are the words that stand for a missing value in text; by default those of pandas.
    """
    need_file(path, "A table")
    suffix = table_suffix(path)
    if suffix in PARQUET:
        return _read_parquet(path)
    if suffix not in SEPARATORS:
        raise InputError(
            f"A table must be a .csv, .tsv or .parquet file, got {path.name}; rename or convert it."
        )
    try:
        table = pd.read_csv(
            path,
            sep=SEPARATORS[suffix],
            skipinitialspace=True,
            keep_default_na=missing is None,
            na_values=None if missing is None else list(missing),
            low_memory=False,  # else the type of a column may change half-way
        )
    except (ValueError, OSError) as error:  # pandas' parser errors and bad encodings are these
        raise InputError(f"{path} cannot be read as a table: {error}.") from None
    if table.empty:
        raise InputError(f"A table needs rows and columns, {path} has none.")
    return table


def table_suffix(path: Path) -> str:
    """``.csv`` of ``rows.csv`` and of ``rows.csv.gz``."""
    return Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()


def need_file(path: Path, what: str) -> None:
    if not path.is_file():
        raise DataNotFoundError(f"{what} must be a file, there is none at {path}; check the path.")


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
