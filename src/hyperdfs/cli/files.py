"""Files that commands read: tables, prices, groups."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hyperdfs.datasets.table_files import file_rows, need_columns, need_file, read_table
from hyperdfs.datasets.table_labels import split_target
from hyperdfs.errors import InputError

__all__ = ["file_rows", "need_columns", "read_costs", "read_groups", "read_table", "split_target"]


def read_costs(path: Path) -> dict[str, float]:
    """Prices: a JSON or TOML mapping, or a CSV whose first two columns are feature and price."""
    table = path.suffix.lower() == ".csv"
    content = _read_prices(path) if table else _read_mapping(path, "Prices", also=".csv, ")
    try:
        return {str(name): _price(price) for name, price in content.items()}
    except (TypeError, ValueError):
        raise InputError(f"Every price must be one number, {path} has something else.") from None


def _price(value: Any) -> float:
    if isinstance(value, bool | np.bool_):
        raise TypeError
    return float(value)


def _read_prices(path: Path) -> dict[str, Any]:
    table = read_table(path)
    if table.shape[1] < 2:
        raise InputError(f"Prices need two columns, feature and price; {path} has one.")
    first, second = table.columns[:2]
    if re.fullmatch(r"[-+]?\d*[.,]?\d+", second):
        raise InputError(
            f"Prices in a .csv need a header, {path} begins with {first!r} and {second!r}; "
            "put a line such as feature,price above."
        )
    return _mapping_once(path, zip(table[first].astype(str), table[second], strict=True))


def _mapping_once(path: Path, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for name, value in pairs:
        if name in content:
            raise InputError(f"Every name must come once, {path} has {name!r} twice; remove one.")
        content[name] = value
    return content


def read_groups(path: Path) -> dict[str, list[str]]:
    """Columns that are bought together: a JSON or TOML mapping from name to list."""
    content = _read_mapping(path, "Groups")
    for name, members in content.items():
        if not isinstance(members, list) or not all(isinstance(m, str) for m in members):
            raise InputError(
                f"A group must be a list of column names, {path} gives {name!r} as {members!r}."
            )
    return content


def _read_mapping(path: Path, what: str, also: str = "") -> dict[str, Any]:
    """A mapping in JSON or TOML; `also` names what else the caller takes."""
    need_file(path, what)
    once = partial(json.loads, object_pairs_hook=partial(_mapping_once, path))
    readers: dict[str, Callable[[str], Any]] = {".json": once, ".toml": tomllib.loads}
    if path.suffix.lower() not in readers:
        raise InputError(f"{what} must come from a {also}.json or .toml file, got {path.name}.")
    try:
        content = readers[path.suffix.lower()](path.read_text(encoding="utf-8-sig"))
    except InputError:
        raise
    except ValueError as error:  # both formats' errors and bad encodings
        raise InputError(f"{path} cannot be read: {error}.") from None
    if not isinstance(content, dict):
        raise InputError(
            f"{what} must be a mapping by name, {path} holds {type(content).__name__}."
        )
    return content
