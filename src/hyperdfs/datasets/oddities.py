"""What looks wrong in the columns of a table: numbers beside words, dates, identifiers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_string_dtype

from hyperdfs.datasets.table_cells import without_missing_words
from hyperdfs.datasets.table_files import NO_NAME
from hyperdfs.errors import listing

_DAY = r"(0?[1-9]|[12]\d|3[01])"  # or a month
DATE = re.compile(
    rf"(\d{{4}}([-./]){_DAY}\2{_DAY}|{_DAY}([-./]){_DAY}\6(\d{{2}}|\d{{4}}))([T ,].*)?"
)
NUMBER_LIKE = re.compile(
    r"[-+]?\s?[$€£¥]?\s?"
    r"(\d+([.,]\d+)?|\d{1,3}(,\d{3})+(\.\d+)?|\d{1,3}([. '\u00a0]\d{3})+(,\d+)?)"
    r"\s?[%$€£¥]?"
)
# Fewer rows can all differ by chance; measured whole numbers often do.
FEWEST_FOR_IDENTIFIER = 10
FEWEST_FOR_SHUFFLED = 100
LONGEST = 40  # characters of a cell that a note shows
MANY_COPIES = 0.01  # of the rows; a few may be equal by chance


def _option(name: str) -> str:
    """How a command leaves a column out."""
    return f"--drop {shlex.quote(name)}"


def oddities(X: pd.DataFrame, remedy: Callable[[str], str] = _option) -> Iterator[str]:
    """A sentence about every column that is probably not meant to be learned from as it is."""
    for name in X.columns:
        fault = _fault(str(name), X[name].dropna())
        if fault:
            yield f"{name}: {fault}{remedy(str(name))}"


def copies(table: pd.DataFrame) -> Iterator[str]:
    """A sentence if many rows, labels included, are copies: some would teach, others test.

    >>> list(copies(pd.DataFrame({"a": [1, 2, 1], "ill": [0, 1, 0]})))[0][:20]
    '1 of 3 rows repeat a'
    """
    n = int(table.duplicated().sum())
    if n > MANY_COPIES * len(table):
        yield (
            f"{n:,} of {len(table):,} rows repeat an earlier one in every column; unless these are "
            "cases of their own remove them, for scores on copies are too good"
        )


def _fault(name: str, cells: pd.Series) -> str | None:
    """What is wrong with the present cells of a column, up to the remedy."""
    if name.startswith(NO_NAME):
        return "the column has no name, it may hold row numbers; ignore it with "
    if cells.nunique() == 1:
        return f"it never differs from {_short(str(cells.iloc[0]))!r}; ignore it with "
    many = len(cells) >= FEWEST_FOR_IDENTIFIER and cells.is_unique
    if many and is_numeric_dtype(cells) and not is_bool_dtype(cells):
        return _number_fault(cells)
    if not is_string_dtype(cells):
        return None
    return _text_fault(without_missing_words(cells).dropna()) or (
        "every row has a category of its own, as identifiers do; ignore it with " if many else None
    )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _number_fault(cells: pd.Series) -> str | None:
    """Of numbers that all differ."""
    if (cells % 1 != 0).any():
        return None
    if cells.is_monotonic_increasing:
        return "every row has another number, as row numbers do; ignore it with "
    if len(cells) >= FEWEST_FOR_SHUFFLED:
        return "every row has another whole number; if these are identifiers, ignore it with "
    return None


def _text_fault(cells: pd.Series) -> str | None:
    """Of text that is not missing."""
    if len(cells) and cells.str.fullmatch(DATE).all():
        return "dates are read as categories; turn them into numbers, or ignore it with "
    words = cells[pd.to_numeric(cells, errors="coerce").isna()]
    if len(words) and cells.str.fullmatch(NUMBER_LIKE).all():
        return (
            f"numbers such as {words.iloc[0]!r} are read as categories; write only digits and a "
            "decimal point, or ignore it with "
        )
    if 0 < len(words) < len(cells) / 2:
        return (
            f"{len(cells) - len(words)} of {len(cells)} cells are numbers, "
            f"{listing(map(_short, words.unique()), 3)} is not, so all are read as categories; "
            "mend the table, or ignore it with "
        )
    return None
