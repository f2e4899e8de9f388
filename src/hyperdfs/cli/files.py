"""Files that commands read: tables, prices, groups."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hyperdfs.datasets.table_files import need_columns, need_file, read_table
from hyperdfs.datasets.table_labels import split_target
from hyperdfs.errors import InputError

__all__ = ["file_rows", "need_columns", "read_costs", "read_groups", "read_table", "split_target"]


@contextmanager
def file_rows(path: Path, rows: Sequence[int]) -> Iterator[None]:
    """Errors inside name the row of the file; `rows` are the positions there of those in use."""
    try:
        yield
    except InputError as error:
        found = re.match(r"row (\d+): ", str(error))
        if found is None:
            raise
        raise InputError(
            f"row {rows[int(found[1])] + 1} of {path} (row 1 is the first below the header): "
            f"{str(error)[found.end() :]}"
        ) from None


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
    need_file(path, what)
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
