"""Tables and labels in the containers that pandas and numpy have for gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from small_tables import fit, numbers

X, Y = numbers(60)


@pytest.fixture(scope="module")
def clf():
    return fit(X, Y, max_budget=2)


def test_a_masked_cell_is_a_missing_one(clf):
    gaps = np.zeros(X.shape, bool)
    gaps[::3, 1] = gaps[1::4, 2] = True
    masked, missing = np.ma.MaskedArray(X, gaps), np.where(gaps, np.nan, X)
    np.testing.assert_array_equal(clf.predict_proba(masked), clf.predict_proba(missing))
    assert (clf.predict_proba(masked) != clf.predict_proba(X)).any()
    text = np.ma.MaskedArray(np.array([["a", "1"], ["b", "2"]] * 30, object), [[True, False]] * 60)
    text.mask[1:] = False
    assert np.isfinite(fit(text, Y, max_budget=1).predict_proba(text)).all()


@pytest.mark.parametrize("kind", ["Float64", "Float32", "Int64"])
def test_nullable_numbers_beside_plain_ones(kind):
    plain = pd.DataFrame(np.round(X)).add_prefix("c")
    plain.iloc[::5, 0] = np.nan
    nullable = plain.astype({"c0": kind})
    a, b = fit(plain, Y, max_budget=2), fit(nullable, Y, max_budget=2)
    np.testing.assert_array_equal(a.predict_proba(plain), b.predict_proba(nullable))


@pytest.mark.parametrize("stored_as", [None, object, "interval"])
def test_intervals_are_categories(stored_as):
    """What `pd.cut` makes of a number; in a live case also typed as text."""
    table = pd.DataFrame(X).add_prefix("c")
    cut = pd.cut(table["c0"], 3)
    kind = pd.IntervalDtype(cut.cat.categories.dtype) if stored_as == "interval" else stored_as
    band = cut if kind is None else cut.astype(kind)
    model, twin = (fit(table.assign(c0=c), Y, max_budget=2) for c in (band, cut.astype(str)))
    assert model._state.preprocessor.n_columns == twin._state.preprocessor.n_columns
    cases = [model.start_case(c0=value).proba for value in (cut[0], str(cut[0]))]
    np.testing.assert_array_equal(*cases)
    one_cell = pd.DataFrame({c: [band[0] if c == "c0" else np.nan] for c in table})
    np.testing.assert_allclose(model.predict_proba(one_cell)[0], cases[0], atol=1e-6)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(Y > 0, dtype=object),
        pd.array(Y, dtype="Int64"),
        pd.DataFrame({"y": pd.array(Y, dtype="Int64")}),
        pd.Series(Y).astype("category"),
    ],
    ids=["objects", "nullable array", "table", "categories"],
)
def test_labels_keep_their_type_and_can_be_scored(y):
    clf = fit(X, y, max_budget=2)
    assert clf.classes_.dtype.kind in "bi"
    assert clf.score(X, y) == np.mean(clf.predict(X) == Y)


def test_probabilities_sum_to_one_in_double_precision(clf, recwarn):
    proba = clf.predict_proba(X)
    np.testing.assert_allclose(proba.sum(1), 1.0, rtol=0, atol=1e-15)
    log_loss(Y, proba)
    assert not recwarn.list


class TestArraysOfText:
    CODES = np.array(["01", "02"])[Y]
    CODES[::20] = "x"
    ROWS = np.c_[CODES, np.round(X[:, 1], 2)]

    def test_a_prediction_does_not_depend_on_the_other_rows(self):
        clf = fit(self.ROWS, Y, max_budget=2)
        kinds = [row["kind"] for row in clf._state.preprocessor.describe()]
        assert kinds == ["category", "number"]
        together = clf.predict_proba(self.ROWS)
        plain = self.CODES != "x"
        np.testing.assert_allclose(clf.predict_proba(self.ROWS[plain]), together[plain], atol=1e-6)
        for rows in (self.ROWS[1:2], self.ROWS[1:2].astype("S")):
            np.testing.assert_allclose(clf.predict_proba(rows), together[1:2], atol=1e-6)
        small = clf.specialise(["x0"])
        pair, alone = (small.predict_proba(rows) for rows in (self.ROWS[1:3], self.ROWS[1:2]))
        np.testing.assert_allclose(pair[:1], alone, atol=1e-6)
        infinite = np.array([["inf", "1"]])  # a category by its name, though it reads as a number
        assert np.isfinite(clf.predict_proba(infinite)).all()

    def test_nan_among_texts_is_a_missing_cell(self):
        rows = np.array([["F", 1.0], ["M", 3.0], [np.nan, 2.0]] * 20)
        clf = fit(rows, Y, max_budget=2)
        assert clf._state.preprocessor.describe()[0]["categories"] == ["F", "M"]
        missing = np.array([[None, 2.0]], dtype=object)
        np.testing.assert_array_equal(clf.predict_proba(rows[2:3]), clf.predict_proba(missing))
