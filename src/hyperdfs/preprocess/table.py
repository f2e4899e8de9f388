"""Table intake: DataFrame, array or list of lists -> DataFrame, or an error that says why not."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from hyperdfs.errors import InputError, listing
from hyperdfs.features import check_labels

# Squares of larger numbers leave float64, so they are refused together with infinity.
LARGEST = np.float64(1e100)


class InputTypeError(InputError, TypeError):
    """A cell or a container of a type that no table can hold."""


def as_table(X: Any, *, expected: Sequence[Hashable] | None = None) -> pd.DataFrame:
    """The user's data as a DataFrame with unique column names.

    Columns of arrays and lists are named x0, x1, ... or, at prediction time, after ``expected``,
    the columns known from training. A DataFrame is matched to ``expected`` by name and comes back
    in that order. Where scikit-learn's estimator checks look for a wording, it is theirs.

    An array of text holds numbers as text too. In training a column of them is one of numbers; at
    prediction time it stays text, for only the fitted kinds tell whether "01" is a number.
    """
    table = X if isinstance(X, pd.DataFrame) else _from_array(plain_array(X), expected)
    _check_shape(table.shape)
    if any(getattr(dtype, "kind", "") == "c" for dtype in table.dtypes):
        raise InputError("Complex data not supported; split it into real and imaginary columns")
    labels = check_labels(table.columns)
    if expected is not None and labels != tuple(expected):
        table = _match(table, tuple(expected))
    _check_finite_columns(table)
    return table


def is_numeric(dtype: Any) -> bool:
    """Whether a column is a plain numpy array of booleans, integers or floats."""
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def check_finite(values: np.ndarray, names: Sequence[Hashable]) -> None:
    """Raise for infinities and for numbers whose square would overflow; NaN means missing."""
    bad = np.abs(values) > LARGEST
    if bad.any():
        row, column = np.argwhere(bad)[0]
        reject_infinite(names[column], values[row, column], f"row {row}: ")


def reject_infinite(name: Hashable, value: Any, where: str = "") -> NoReturn:
    """The one message for numbers that are too large to work with."""
    raise InputError(
        f"{where}column {name!r} holds infinity or a value beyond {LARGEST:.0e}, got {value}; "
        "replace it by a number, or by NaN if it is unknown"
    )


def _check_finite_columns(table: pd.DataFrame) -> None:
    # By position: select_dtypes would take nullable floats along, whose gaps are no numbers.
    plain = [i for i, d in enumerate(table.dtypes) if isinstance(d, np.dtype) and d.kind == "f"]
    floats = table.iloc[:, plain]
    check_finite(floats.to_numpy(), list(floats.columns))


def _reject_sparse(X: Any) -> None:
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InputTypeError(
            "Sparse data was passed for X, but dense data is required. "
            "Use '.toarray()' to convert to a dense numpy array."
        )


def _check_shape(shape: tuple[int, ...]) -> None:
    for count, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if count == 0:
            raise InputError(
                f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is required."
            )


def plain_array(X: Any) -> np.ndarray:
    """The user's rows, in no DataFrame, as an array with two dimensions."""
    _reject_sparse(X)
    array = _as_array(X)
    if array.ndim < 2:
        found = "scalar array" if array.ndim == 0 else "1D array"
        raise InputError(
            f"Expected 2D array, got {found} instead. Reshape your data either using "
            "array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it "
            "contains a single sample."
        )
    if array.ndim > 2:
        raise InputError(
            f"Found array with dim {array.ndim}, while dim <= 2 is required; "
            "flatten it to one row per sample, e.g. with X.reshape(len(X), -1)"
        )
    _check_shape(array.shape)
    return array


def _from_array(array: np.ndarray, expected: Sequence[Hashable] | None) -> pd.DataFrame:
    n_columns = array.shape[1]
    names = [f"x{i}" for i in range(n_columns)] if expected is None else list(expected)
    if len(names) != n_columns:
        raise InputError(f"X has {n_columns} features, but expected {len(names)} features as input")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind == "U":
        read = _unquote if expected is None else _texts
        return pd.DataFrame({name: read(array[:, i]) for i, name in enumerate(names)})
    table = pd.DataFrame(array, columns=pd.Index(names))
    return table.infer_objects() if array.dtype == object else table


def _as_array(X: Any) -> np.ndarray:
    if isinstance(X, np.ma.MaskedArray):  # a masked cell is a missing one
        X = X.astype(float if X.dtype.kind in "biuf" else object)
        X = X.filled(np.nan if X.dtype.kind == "f" else None)
    # dtype=object keeps numbers beside strings in a list of lists what they are.
    array = np.asarray(X) if hasattr(X, "__array__") else np.asarray(X, dtype=object)
    if array.ndim == 1 and any(isinstance(row, list | tuple | np.ndarray) for row in array):
        raise InputError("the rows of X must all have the same length; pad short rows with None")
    return array


def _unquote(texts: np.ndarray) -> np.ndarray:
    """Numbers again, where numpy turned them into text because another column holds text."""
    try:
        return texts.astype(np.float64)
    except ValueError:
        return _texts(texts)


def _texts(texts: np.ndarray) -> np.ndarray:
    """Texts as objects; 'nan' is what numpy makes of a missing cell among texts."""
    cells = texts.astype(object)
    cells[texts == "nan"] = np.nan
    return cells


def _match(table: pd.DataFrame, expected: tuple[Hashable, ...]) -> pd.DataFrame:
    known = set(expected)
    absent = [column for column in expected if column not in table.columns]
    extra = [column for column in table.columns if column not in known]
    if absent or extra:
        parts = [f"missing {listing(absent)}"] * bool(absent)
        parts += [f"unexpected {listing(extra)}"] * bool(extra)
        raise InputError(
            f"the table must have the columns seen in training: {'; '.join(parts)}; "
            "an unknown value is a column of NaN"
        )
    return table[list(expected)]
