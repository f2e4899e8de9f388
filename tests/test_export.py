"""A specialised classifier equals the full model that knows exactly its subset."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.errors import InputError
from small_tables import fit, mixed, numbers, only

FEATURES = ["body", "smoker", "job", "grade", "visits"]


@pytest.fixture(scope="module", params=["hypernetwork", "two members", "concat", "paper"])
def clf(request):
    X, y = mixed()
    return fit(
        X,
        y,
        max_budget=2,
        groups={"body": ["age", "height"]},
        n_members=2 if request.param == "two members" else 1,
        preset="paper" if request.param == "paper" else "default",
        config={"hypernetwork": request.param != "concat", "embed_dim": 2},
    )


@settings(max_examples=12, deadline=None)
@given(subset=st.sets(st.sampled_from(FEATURES), min_size=1))
def test_equals_the_full_model_with_the_other_cells_missing(clf, subset):
    X, _ = mixed(25, seed=2, missing=False)
    small = clf.specialise(sorted(subset))
    assert set(small.features) == subset
    known = np.isin(FEATURES, list(subset))
    expected = clf.predict_proba(only(X, np.tile(known, (25, 1)), clf.features_))
    np.testing.assert_allclose(small.predict_proba(X), expected, atol=1e-5)
    columns = [
        c for f, cs in zip(FEATURES, clf.features_.columns, strict=True) for c in cs if f in subset
    ]
    np.testing.assert_array_equal(small.predict_proba(X[columns[::-1]]), small.predict_proba(X))
    np.testing.assert_array_equal(small.predict(X), clf.classes_[small.predict_proba(X).argmax(1)])


def test_it_is_small_and_needs_no_network():
    clf = fit(*numbers(), max_budget=2)
    small = clf.specialise(["x1"])
    size = sum(w.size + b.size for member in small.layers for w, b in member)
    assert size < clf._state.model.parameters() / 5
    assert all(isinstance(w, np.ndarray) for member in small.layers for w, _ in member)


def test_part_of_a_group_is_enough():
    X, y = mixed()
    clf = fit(X, y, max_budget=2, groups={"body": ["age", "height"]})
    row = pd.DataFrame({"age": [50.0], "height": [np.nan]})
    full = pd.DataFrame([dict.fromkeys(X.columns)]).astype(object).assign(age=50.0)
    np.testing.assert_allclose(
        clf.specialise(["body"]).predict_proba(row), clf.predict_proba(full), atol=1e-6
    )
    with pytest.raises(InputError, match="columns 'age', 'height', got a table without 'height'"):
        clf.specialise(["body"]).predict_proba(row[["age"]])


@pytest.mark.parametrize("columns", [None, [0, 1, 2, 3], [8, 3, 6, 1], list("dcba")], ids=str)
def test_arrays_and_integer_names(columns):
    X, y = numbers()
    table = X if columns is None else pd.DataFrame(X, columns=columns)
    clf = fit(table, y, max_budget=2)
    small = clf.specialise([1, 3])
    hidden = X.copy()
    hidden[:, [0, 2]] = np.nan
    expected = clf.predict_proba(
        hidden if columns is None else pd.DataFrame(hidden, columns=columns)
    )
    if columns is not None:
        few = table[[columns[3], columns[1]]]
        np.testing.assert_allclose(small.predict_proba(few), expected, atol=1e-6)
    # An array has the columns of the subset, or all those of the training table.
    np.testing.assert_allclose(small.predict_proba(X[:, [1, 3]]), expected, atol=1e-6)
    np.testing.assert_allclose(small.predict_proba(X), expected, atol=1e-6)


def test_an_array_is_read_in_the_tables_order_not_in_that_of_the_groups():
    X, y = numbers()
    clf = fit(X, y, max_budget=1, groups={"outer": [0, 3]})
    expected = clf.predict_proba(np.where(np.arange(4) == 2, np.nan, X))
    small = clf.specialise(["outer", "x1"])
    np.testing.assert_allclose(small.predict_proba(X[:, [0, 1, 3]]), expected, atol=1e-6)


@pytest.fixture(scope="module")
def small():
    return fit(*numbers(), max_budget=2).specialise(["x1", "x2"])


class TestErrors:
    def test_a_missing_value_is_named(self, small):
        X = numbers()[0].copy()
        X[3, 2] = np.nan
        with pytest.raises(InputError, match=r"row 3 lacks 'x2'; use the full model"):
            small.predict_proba(X)

    def test_a_missing_column_is_named(self, small):
        with pytest.raises(InputError, match=r"got a table without 'x2'; add"):
            small.predict(pd.DataFrame({"x1": [1.0]}))

    def test_an_array_of_another_width(self, small):
        with pytest.raises(InputError, match="3 features, but expected 4"):
            small.predict(np.zeros((2, 3)))
