"""What the cells of a user's table stand for: numbers, words, words for a missing value."""

from __future__ import annotations

import pandas as pd
from pandas.api.types import is_string_dtype

from hyperdfs.errors import listing

# What people write for a missing value; pandas knows some of them only, and not in every case.
MISSING_WORDS = frozenset(
    ("", "?", "-", "--", ".", "na", "n/a", "n.a.", "nan", "none", "null", "unknown", "missing")
)
WHOLE = r"[+-]?\d+"
COMMA_NUMBER = r"[+-]?\d*,?\d+([eE][+-]?\d+)?"


def is_missing_word(text: str) -> bool:
    """Whether a word stands for a missing value.

    >>> is_missing_word("N/A"), is_missing_word("0")
    (True, False)
    """
    return text.strip().lower() in MISSING_WORDS


def is_text(column: pd.Series) -> bool:
    """Whether all cells are text or missing."""
    return is_string_dtype(column.dropna())


def without_missing_words(column: pd.Series) -> pd.Series:
    """A column whose words for a missing value are missing cells."""
    if not is_text(column):
        return column
    return column.mask(column.str.strip().str.lower().isin(MISSING_WORDS))


def decimal_points(column: pd.Series) -> pd.Series:
    """Decimal points for commas, where every cell is a number or a word for a missing value.

    >>> decimal_points(pd.Series(["1,5", "?"])).tolist()
    ['1.5', '?']
    >>> decimal_points(pd.Series(["1,5", "x"])).tolist()
    ['1,5', 'x']
    """
    if not is_text(column):
        return column
    numbers = without_missing_words(column)
    if not numbers.notna().any() or not numbers.dropna().str.fullmatch(COMMA_NUMBER).all():
        return column
    points = column.where(numbers.isna(), column.str.replace(",", "."))
    return points if (points.notna() & numbers.isna()).any() else pd.to_numeric(points)


def whole_numbers(text: pd.Series) -> pd.Series:
    """Digits as whole numbers without loss; missing cells stay missing.

    >>> whole_numbers(pd.Series(["9007199254740993", None])).tolist()
    [9007199254740993, <NA>]
    """
    numbers = [None if pd.isna(cell) else int(cell) for cell in text]
    try:
        return pd.Series(numbers, text.index, "Int64", text.name)
    except OverflowError:
        return pd.Series(numbers, text.index, object, text.name)


def read_gaps(X: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Columns of numbers and words for missing values as numbers, and a sentence about each.

    >>> table, notes = read_gaps(pd.DataFrame({"age": ["54", "?", "61"], "sex": ["F", "?", "M"]}))
    >>> table["age"].tolist(), notes
    ([54.0, nan, 61.0], ["age: '?' counts as missing (1 of 3 cells), the others are numbers"])
    """
    X, notes = X.copy(), []
    for name in X.columns:
        if not is_text(X[name]):
            continue
        cells = without_missing_words(X[name])
        words = X[name][cells.isna()].dropna()
        numbers = pd.to_numeric(cells, errors="coerce")
        if len(words) and numbers.notna().any() and numbers.isna().sum() == cells.isna().sum():
            X[name] = numbers
            notes.append(
                f"{name}: {listing(words.unique())} counts as missing ({len(words)} of {len(X)} "
                "cells), the others are numbers"
            )
    return X, notes
