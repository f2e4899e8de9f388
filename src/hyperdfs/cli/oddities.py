"""What looks wrong in the columns of a table: numbers beside words, dates, identifiers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pandas as pd
from pandas.api.types import is_integer_dtype, is_string_dtype

from hyperdfs.datasets.table_files import NO_NAME
from hyperdfs.errors import listing

ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")
# Fewer rows can all differ by chance.
FEWEST_FOR_IDENTIFIER = 10


def oddities(X: pd.DataFrame) -> Iterator[str]:
    """A sentence about every column that is probably not meant to be learned from as it is."""
    for name in X.columns:
        fault = _fault(str(name), X[name].dropna())
        if fault:
            yield f"{name}: {fault}--drop {shlex.quote(str(name))}"


def _fault(name: str, cells: pd.Series) -> str | None:
    """What is wrong with the present cells of a column, up to the remedy."""
    if name.startswith(NO_NAME):
        return "the column has no name, it may hold row numbers; ignore it with "
    if cells.nunique() == 1:
        return f"it never differs from {str(cells.iloc[0])!r}; ignore it with "
    many = len(cells) >= FEWEST_FOR_IDENTIFIER and cells.is_unique
    if is_integer_dtype(cells) and many and cells.is_monotonic_increasing:
        return "every row has another number, as row numbers do; ignore it with "
    if not is_string_dtype(cells):
        return None
    if len(cells) and cells.str.fullmatch(ISO_DATE).all():
        return "dates are read as categories; turn them into numbers, or ignore it with "
    words = cells[pd.to_numeric(cells, errors="coerce").isna()]
    if 0 < len(words) < len(cells) / 2:
        return (
            f"{len(cells) - len(words)} of {len(cells)} cells are numbers, "
            f"{listing(words.unique(), 3)} is not, so all are read as categories; "
            "mend the table, or ignore it with "
        )
    if many:
        return "every row has a category of its own, as identifiers do; ignore it with "
    return None
