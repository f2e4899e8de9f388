"""What the cells of a user's table stand for: numbers, words, words for a missing value."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_string_dtype

from hyperdfs.errors import listing

# What people write for a missing value; pandas knows some of them only, and not in every case.
MISSING_WORDS = frozenset(
    ("", "?", "-", "--", ".", "na", "n/a", "n.a.", "nan", "none", "null", "unknown", "missing")
)
BOOLEANS = {
    **dict.fromkeys(("True", "TRUE", "true"), True),
    **dict.fromkeys(("False", "FALSE", "false"), False),
}
EXACT = 2**53  # from here on a float no longer tells whole numbers apart
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


def without_words(column: pd.Series, words: Sequence[str]) -> pd.Series:
    """A column whose cells are missing where they are one of the words, or the number it names."""
    if is_text(column):
        return column.mask(column.str.strip().isin(words))
    if is_numeric_dtype(column) and not is_bool_dtype(column):
        numbers = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce").dropna()
        return column.mask(column.isin(numbers)) if column.isin(numbers).any() else column
    return column


def stripped(column: pd.Series, missing: Sequence[str]) -> pd.Series:
    """Text without blanks at its ends; nothing but blanks is missing, as the given words are."""
    if not is_text(column):
        return column
    return without_words(column.str.strip(), ["", *missing])


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


def numbers_of(text: pd.Series) -> pd.Series | None:
    """Text as numbers, None if a cell is something else; large whole numbers lose no digit.

    >>> numbers_of(pd.Series(["9007199254740993", None])).tolist()
    [9007199254740993, <NA>]
    """
    numbers = pd.to_numeric(text, errors="coerce")
    if numbers.isna().sum() != text.isna().sum() or not numbers.notna().any():
        return None
    if not (numbers.abs() >= EXACT).any() or not text.dropna().str.fullmatch(WHOLE).all():
        return numbers
    whole = [None if pd.isna(cell) else int(cell) for cell in text]
    try:
        return pd.Series(whole, text.index, "Int64", text.name)
    except OverflowError:
        return pd.Series(whole, text.index, object, text.name)


def read_gaps(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Words for missing values as missing cells where all others are numbers, or true and false.

    Beside text they are values, as a class may well be called None. Each is told in a sentence.

    >>> table, notes = read_gaps(pd.DataFrame({"age": ["54", "?", "61"]}))
    >>> table["age"].tolist(), notes
    ([54.0, nan, 61.0], ["age: '?' counts as missing (1 of 3 cells), the others are numbers"])
    """
    table, notes = table.copy(), []
    for name in table.columns:
        cells = without_missing_words(table[name])
        words = table[name][cells.isna()].dropna()
        if words.empty:
            continue
        kind, read = numbers_or_booleans(cells)
        verb = "counts" if words.nunique() == 1 else "count"
        found = f"{name}: {listing(words.unique())} {verb} as "
        share = f"({len(words)} of {len(table)} cells)"
        if read is None:
            notes.append(
                f"{found}a value {share}, as the others are text; leave such cells empty if they "
                "are missing"
            )
        else:
            table[name] = read
            notes.append(f"{found}missing {share}, the others are {kind}")
    return table, notes


def numbers_or_booleans(text: pd.Series) -> tuple[str, pd.Series | None]:
    """The kind of the cells and their values, which are None if some are other text."""
    present = text.dropna()
    if len(present) and present.isin(BOOLEANS).all():
        return "true or false", text.map(BOOLEANS, na_action="ignore")
    return "numbers", numbers_of(text)
