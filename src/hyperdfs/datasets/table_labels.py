"""The column of labels in a user's table."""

from __future__ import annotations

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_integer_dtype, is_numeric_dtype

from hyperdfs.datasets.table_files import need_columns
from hyperdfs.errors import InputError

# More different numbers than these are measured ones: decimals; whole numbers that mostly differ;
# whole numbers of which half come in fewer rows than RARE.
MOST_DECIMALS, MOST_DIFFERENT, MOST_RARE = 100, 20, 50
RARE = 5


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
    """Class labels as integers, booleans or text; no cell may be missing.

    >>> labels_of(pd.Series([2.0, 1.0])).tolist(), labels_of(pd.Series([0.5, 1])).tolist()
    ([2, 1], ['0.5', '1.0'])
    """
    # Blank cells turn a column of true and false into objects.
    if is_bool_dtype(column) or infer_dtype(column) == "boolean":
        return column.to_numpy(bool)
    if is_integer_dtype(column):
        return column.to_numpy(column.dtype.name.lower())
    if is_numeric_dtype(column):
        return _labels_of_floats(column.to_numpy(float), column.name)
    return column.astype(str).to_numpy(str)


def _labels_of_floats(values: np.ndarray, name: object) -> np.ndarray:
    if np.isinf(values).any():
        raise InputError(
            f"Column {name!r} must hold classes, got an infinite number; correct the cell or leave "
            "it empty."
        )
    if (values == np.round(values)).all() and np.abs(values).max() < 2**63:
        return values.astype(np.int64)
    return values.astype(str)


def need_classes(column: pd.Series) -> None:
    """Refuse a column to learn from that holds measured numbers rather than classes."""
    if not is_numeric_dtype(column) or is_bool_dtype(column):
        return
    counts = column.value_counts()
    n = len(counts)
    if (counts.index % 1 == 0).all():
        kind = "whole numbers"
        measured = (n > MOST_DIFFERENT and n > column.count() / 2) or (
            n > MOST_RARE and counts.median() < RARE
        )
    else:
        kind, measured = "decimal numbers", n > MOST_DECIMALS
    if measured:
        raise InputError(
            f"Column {column.name!r} must hold classes, got {n:,} different {kind} in "
            f"{column.count():,} rows; cut them into classes first."
        )
