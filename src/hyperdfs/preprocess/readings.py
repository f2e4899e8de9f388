"""Cells -> readings: one float per raw cell.

A number reads as itself, a boolean as 0 or 1, a category as its code and a missing cell (NaN,
None, pd.NA, pd.NaT) as NaN. Whole columns and the single cells of a live case go through the same
rules, which is what makes their encodings equal bit for bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from hyperdfs.errors import InputError
from hyperdfs.preprocess.table import (
    LARGEST,
    InputTypeError,
    check_finite,
    is_numeric,
    reject_infinite,
)

# Reading of a category that training did not show and that no "other" column can take.
UNSEEN = -1.0

MAX_CATEGORIES = 32

_WORDS = {
    **dict.fromkeys(("true", "yes", "t", "y", "1", "1.0"), 1.0),
    **dict.fromkeys(("false", "no", "f", "n", "0", "0.0"), 0.0),
}
_NUMERIC_KINDS = ("number", "pixels")
_DATES = {"datetime", "datetime64", "date", "time", "timedelta", "timedelta64", "period"}
_NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal", "empty"}


@dataclass(frozen=True)
class ColumnReader:
    """How the cells of one raw column are read.

    ``labels`` are the categories with a code of their own, in code order; every other category
    reads as ``unseen``. Of the kind "empty" training had no value: whatever comes later means
    nothing to the model and reads as missing.
    """

    name: Hashable
    kind: str
    labels: tuple[str, ...] = ()
    unseen: float = UNSEEN
    _codes: dict[str, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        codes = {label: float(code) for code, label in enumerate(self.labels)}
        object.__setattr__(self, "_codes", codes)

    @property
    def n_codes(self) -> int:
        """Number of distinct codes, with that of the pooled rare categories."""
        if self.kind == "boolean":
            return 2
        return max(len(self.labels), int(self.unseen) + 1)

    def read_cell(self, value: Any) -> float:
        """Reading of one cell."""
        if type(value) is str and self.kind == "category":
            return self._codes.get(value, self.unseen)
        if self.kind == "empty" or is_missing(value):
            return np.nan
        if self.kind == "category":
            return self._codes.get(label_of(value, self.name), self.unseen)
        if self.kind == "boolean":
            return self._read_boolean(value)
        return self._read_number(value)

    def read_column(self, cells: pd.Series) -> np.ndarray:
        """**Shape** ``(n,)`` float64 readings."""
        if _is_stored_as_numbers(cells.dtype) and self.kind in _NUMERIC_KINDS:
            return cells.to_numpy(dtype=np.float64, na_value=np.nan)
        if pd.api.types.is_object_dtype(cells.dtype):
            return self._read_cells(cells)
        # Few distinct values: read each once. Not for object columns, where 1 equals True.
        codes, distinct = pd.factorize(cells)
        present = np.flatnonzero(codes >= 0)
        rows = present[np.unique(codes[present], return_index=True)[1]]
        readings = self._read_cells(distinct, rows)
        return np.append(readings, np.nan)[codes]

    def _read_cells(self, cells: Iterable[Any], rows: Any = None) -> np.ndarray:
        readings = []
        for i, cell in enumerate(cells):
            try:
                readings.append(self.read_cell(cell))
            except InputError as error:
                row = i if rows is None else rows[i]
                raise type(error)(f"row {row}: {error}") from None
        return np.array(readings, dtype=np.float64)

    def _read_number(self, value: Any) -> float:
        if not isinstance(value, str | Real | Decimal | np.bool_):
            raise self._unreadable(value, "a number")
        try:
            number = float(value)
        except OverflowError:
            number = np.inf
        except ValueError:
            raise self._unreadable(value, "a number") from None
        if abs(number) > LARGEST:
            reject_infinite(self.name, value)
        return number

    def _read_boolean(self, value: Any) -> float:
        word = str(value).strip().lower()
        if isinstance(value, str | Real | np.bool_) and word in _WORDS:
            return _WORDS[word]
        raise self._unreadable(value, "true or false")

    def _unreadable(self, value: Any, expected: str) -> InputError:
        return InputError(
            f"{self.name!r} must be {expected}, got {value!r}; correct it or leave it missing"
        )


def fit_reader(name: Hashable, cells: pd.Series, *, pool: bool) -> ColumnReader:
    """Learn the kind and the categories of a raw column from its training cells.

    With ``pool``, categories of fewer than max(2, 0.1 %) rows and those beyond the 32 most
    frequent share the last code, and so does what training never showed. Their labels are not
    kept, so the values of an identifier column do not travel with the model. Without, an unseen
    category or boolean reads as the most frequent one.
    """
    kind = infer_kind(name, cells)
    if cells.isna().all():
        return ColumnReader(name, "empty")
    if kind == "number":
        return ColumnReader(name, kind)
    if kind == "boolean":
        reader = ColumnReader(name, kind)
        return reader if pool else replace(reader, unseen=_mode(reader.read_column(cells)))
    counts = _label_counts(name, cells)
    labels, frequency = tuple(counts), np.array(list(counts.values()))
    if not pool:
        return ColumnReader(name, kind, labels, float(np.argmax(frequency)))
    often = np.argsort(-frequency, kind="stable")[:MAX_CATEGORIES]
    often = often[frequency[often] >= max(2, 0.001 * len(cells))]
    kept = tuple(labels[i] for i in np.sort(often))
    return ColumnReader(name, kind, kept, UNSEEN if len(kept) == len(labels) else float(len(kept)))


def read_table(frame: pd.DataFrame, readers: Sequence[ColumnReader]) -> np.ndarray:
    """**Shape** ``(n, R)`` readings of the columns, in the readers' order."""
    plain = np.array(
        [
            reader.kind in _NUMERIC_KINDS and is_numeric(dtype)
            for reader, dtype in zip(readers, frame.dtypes, strict=True)
        ]
    )
    if plain.all():
        # One conversion for wide tables; images in float32 are not blown up to twice the size.
        small = all(dtype == np.float32 for dtype in frame.dtypes)
        readings = frame.to_numpy(dtype=np.float32 if small else np.float64)
    else:
        readings = np.empty(frame.shape, dtype=np.float64)
        readings[:, plain] = frame.iloc[:, np.flatnonzero(plain)].to_numpy(dtype=np.float64)
        for i in np.flatnonzero(~plain).tolist():
            readings[:, i] = readers[i].read_column(frame.iloc[:, i])
    check_finite(readings, [reader.name for reader in readers])
    return readings


def infer_kind(name: Hashable, cells: pd.Series) -> str:
    """``"number"``, ``"boolean"`` or ``"category"``.

    Text stays a category even if it looks like numbers (post codes do); a column that mixes
    numbers with text is a category whose labels are the cells' texts.
    """
    dtype = cells.dtype
    if isinstance(dtype, pd.CategoricalDtype | pd.IntervalDtype):
        return "category"
    if pd.api.types.is_object_dtype(dtype):
        return _infer_object_kind(name, cells)
    if pd.api.types.is_bool_dtype(dtype):
        return "boolean"
    if pd.api.types.is_complex_dtype(dtype):
        raise _complex(name)
    if pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if pd.api.types.is_string_dtype(dtype):
        return "category"
    raise _not_a_feature(name, str(dtype))


def is_missing(value: Any) -> bool:
    """NaN, None, pd.NA and pd.NaT; a list or a dictionary is not missing but wrong."""
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def label_of(value: Any, name: Hashable) -> str:
    """A category's text; 2.0 is 2, because a missing cell turns pandas' integers into floats."""
    if isinstance(value, str):
        return str(value)
    _check_cell_type(value, name)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _is_stored_as_numbers(dtype: Any) -> bool:
    if isinstance(dtype, pd.CategoricalDtype):
        return False
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype)


def _infer_object_kind(name: Hashable, cells: pd.Series) -> str:
    present = cells.dropna()
    inferred = pd.api.types.infer_dtype(present, skipna=False)
    if inferred == "boolean":
        return "boolean"
    if inferred in _NUMBERS:
        return "number"
    if inferred in ("string", "interval"):
        return "category"
    if inferred == "complex":
        raise _complex(name)
    if inferred in _DATES:
        raise _not_a_feature(name, inferred)
    for cell in present:
        _check_cell_type(cell, name)
    return "category" if any(isinstance(cell, str) for cell in present) else "number"


def _label_counts(name: Hashable, cells: pd.Series) -> dict[str, int]:
    """Number of rows of every category, in sorted order of the categories."""
    if pd.api.types.is_object_dtype(cells.dtype):
        found = Counter(label_of(cell, name) for cell in cells if not is_missing(cell))
        return dict(sorted(found.items()))
    counts = cells.value_counts(sort=False, dropna=True)
    counts = counts[counts > 0]
    # The categories of a pandas categorical may be numbers, which sort as numbers.
    try:
        order = sorted(counts.index)
    except TypeError:
        order = sorted(counts.index, key=str)
    return {label_of(category, name): int(counts[category]) for category in order}


def _mode(codes: np.ndarray) -> float:
    """The more frequent of 0 and 1, and 0 in a tie."""
    return float(np.count_nonzero(codes == 1) > np.count_nonzero(codes == 0))


def _check_cell_type(value: Any, name: Hashable) -> None:
    if not isinstance(value, str | Real | Decimal | np.bool_ | pd.Interval):
        raise InputTypeError(
            f"a cell's argument must be a string or a number, got {type(value).__name__} "
            f"{value!r} in column {name!r}; split it into columns of plain values"
        )


def _complex(name: Hashable) -> InputError:
    return InputError(
        f"Complex data not supported, found in column {name!r}; "
        "split it into real and imaginary columns"
    )


def _not_a_feature(name: Hashable, dtype: str) -> InputError:
    return InputError(
        f"a column must hold numbers, booleans or categories, got {dtype} in column {name!r}; "
        "turn it into a number, e.g. days since a reference date"
    )
