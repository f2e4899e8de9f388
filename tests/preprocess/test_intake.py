"""From what a user passes as X to a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from prep_tables import fitted
from scipy import sparse

from hyperdfs.errors import InputError
from hyperdfs.preprocess import as_table


def test_arrays_and_lists_become_tables() -> None:
    rows = [[1, "a", None], [2, "b", 3.5]]
    for X in (rows, np.array(rows, dtype=object), tuple(map(tuple, rows))):
        table = as_table(X)
        assert list(table.columns) == ["x0", "x1", "x2"]
        assert [row["kind"] for row in fitted(table).describe()] == ["number", "category", "number"]
    texts = as_table(np.array([[1, "a"], [2, "b"]]))
    assert [row["kind"] for row in fitted(texts).describe()] == ["number", "category"]
    assert as_table(np.array([[b"x", b"1"]]))["x1"].tolist() == [1.0]
    frame = pd.DataFrame({"b": [1], "a": [2]})
    assert as_table(frame) is frame
    assert list(as_table(frame, expected=("a", "b")).columns) == ["a", "b"]
    assert list(as_table([[1, 2]], expected=("a", "b")).columns) == ["a", "b"]


@pytest.mark.parametrize(
    ("X", "kind", "fragment"),
    [
        ([1, 2, 3], ValueError, "Expected 2D array, got 1D array instead.*Reshape your data"),
        (pd.Series([1, 2]), ValueError, "Expected 2D array, got 1D array instead"),
        (3.0, ValueError, "Expected 2D array, got scalar array instead"),
        (np.zeros((2, 2, 2)), ValueError, "Found array with dim 3"),
        (sparse.csr_array(np.eye(3)), TypeError, r"Sparse data .* '.toarray\(\)'"),
        (np.ones((2, 2)) * 1j, ValueError, "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), ValueError, "Complex data not supported"),
        (np.array([[1j], [2]], dtype=object), ValueError, "Complex data not supported"),
        (np.empty((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is"),
        (np.empty((10, 0)), ValueError, r"0 feature\(s\) \(shape=\(10, 0\)\) while a minimum of 1"),
        (pd.DataFrame(index=range(2)), ValueError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        ([[1.0, 2.0], [1.0, np.inf]], ValueError, "row 1: column 'x1' holds infinity .* got inf"),
        (
            pd.DataFrame({"a": [1.0, -1e200]}),
            ValueError,
            "row 1: column 'a' holds .* beyond 1e.100",
        ),
        ([[1, 2], [3]], ValueError, "rows of X must all have the same length"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "unique, got 'a' twice"),
        (pd.DataFrame([[1, 2]], columns=["a", 0]), ValueError, "all strings or all integers"),
    ],
)
def test_intake_refuses(X: Any, kind: type[Exception], fragment: str) -> None:
    with pytest.raises(InputError, match=fragment) as caught:
        as_table(X)
    assert isinstance(caught.value, kind)


@pytest.mark.parametrize(
    ("X", "fragment"),
    [
        (pd.DataFrame({"a": [1], "c": [1]}), "missing 'b'; unexpected 'c'"),
        (pd.DataFrame({"a": [1], "b": [1], "c": [1]}), "training: unexpected 'c'"),
        ([[1, 2, 3]], "X has 3 features, but expected 2 features"),
    ],
)
def test_intake_refuses_other_columns_than_in_training(X: Any, fragment: str) -> None:
    with pytest.raises(InputError, match=fragment):
        as_table(X, expected=("a", "b"))
