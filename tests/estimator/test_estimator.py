"""The public contract: shapes, purchases, scores, leaks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, log_loss

from hyperdfs import DFSClassifier
from hyperdfs.errors import InputError
from hyperdfs.selectors.fixed import RandomSelector, StaticSelector
from small_tables import TINY, fit, mixed, numbers, only

COSTS = {"body": 3.0, "smoker": 0.5, "job": 1.0, "grade": 0.0, "visits": 2.0}


@pytest.fixture(scope="module")
def clf():
    """Mixed columns with missing cells, a group of two columns and prices."""
    X, y = mixed()
    return fit(X, y, max_budget=4, groups={"body": ["age", "height"]}, costs=COSTS)


@pytest.fixture(scope="module")
def table():
    return mixed(40, seed=1)


@pytest.fixture(scope="module")
def plain():
    return fit(*numbers(), max_budget=3)


class TestContract:
    def test_probabilities(self, clf, table):
        X, _ = table
        proba = clf.predict_proba(X)
        assert proba.shape == (40, 2)
        np.testing.assert_allclose(proba.sum(1), 1.0, atol=1e-6)
        assert (proba > 0).all()
        assert clf.classes_.tolist() == ["sick", "well"]
        np.testing.assert_array_equal(clf.predict(X), clf.classes_[proba.argmax(1)])

    @pytest.mark.parametrize("budget", [1, 3, 5])
    def test_acquisition(self, clf, table, budget):
        X, _ = table
        a = clf.acquire(X, budget=budget)
        assert a.order.shape == (40, budget)
        assert a.proba.shape == (40, budget + 1, 2)
        assert a.cost.shape == (40, budget + 1)
        np.testing.assert_allclose(a.proba.sum(2), 1.0, atol=1e-6)
        assert all(len(set(row)) == budget for row in a.order.tolist())
        assert set(np.unique(a.order)) <= set(range(5))
        for b in range(budget + 1):
            assert (a.masks(b).sum(1) == b).all()
            prices = a.masks(b) @ np.array(list(COSTS.values()))
            np.testing.assert_allclose(a.cost[:, b], prices)

    def test_what_is_known_at_the_start_is_free_and_not_bought(self, clf, table):
        X, _ = table
        a = clf.acquire(X, 5, known=["body", "job"])
        assert not np.isin(a.order[:, :3], [0, 2]).any()
        assert (a.order[:, 3:] == -1).all()
        np.testing.assert_allclose(a.cost[:, 0], 0.0)
        np.testing.assert_allclose(a.cost[:, 3:], 2.5)  # smoker, grade and visits
        mask = np.zeros((40, 5), bool)
        mask[:, [0, 2]] = True
        alone = clf.predict_proba(only(X, mask, clf.features_))
        np.testing.assert_allclose(a.proba[:, 0], alone, atol=1e-5)
        np.testing.assert_array_equal(clf.acquire(X, 5, known=mask).order, a.order)
        named = pd.DataFrame(mask, columns=clf.features_.names)[list(clf.features_.names[::-1])]
        np.testing.assert_array_equal(clf.acquire(X, 5, known=named).order, a.order)

    def test_the_first_purchase_is_everybodys(self, clf, table):
        assert len(np.unique(clf.acquire(table[0]).order[:, 0])) == 1

    def test_budgets_default_to_those_trained_for_and_end_at_all_features(self, clf, table):
        assert clf.acquire(table[0]).budget == 4
        assert clf.acquire(table[0], budget=99).budget == 5

    def test_each_step_is_the_prediction_from_exactly_those_cells(self, clf, table):
        X, _ = table
        a = clf.acquire(X, budget=5)
        for b in range(6):
            known = only(X, a.masks(b), clf.features_)
            np.testing.assert_allclose(a.proba[:, b], clf.predict_proba(known), atol=1e-5)

    def test_a_missing_result_is_paid_for_and_teaches_nothing(self, clf, table):
        X, _ = table
        a = clf.acquire(X, budget=5)
        seen = 0
        for i, columns in enumerate(clf.features_.columns):
            missing = X[list(columns)].isna().all(axis=1).to_numpy()
            for row in np.flatnonzero(missing):
                step = a.order[row].tolist().index(i)  # bought once, as test_acquisition checks
                np.testing.assert_allclose(a.proba[row, step + 1], a.proba[row, step], atol=1e-6)
                paid = a.cost[row, step + 1] - a.cost[row, step]
                assert paid == pytest.approx(clf.features_.costs[i])
                seen += 1
        assert seen > 5

    def test_a_row_without_any_cell_gets_the_prediction_from_nothing(self, clf, table):
        nothing = only(table[0], np.zeros((40, 5), bool), clf.features_)
        proba = clf.predict_proba(nothing)
        np.testing.assert_allclose(proba, clf.acquire(table[0]).proba[:, 0], atol=1e-6)
        assert np.ptp(proba, axis=0).max() < 1e-6

    def test_curve_and_area_are_scikit_learns_scores(self, clf, table):
        X, y = table
        proba = clf.acquire(X, budget=5).proba
        curve = clf.acquisition_curve(X, y, budgets=range(2, 11))
        assert curve.index.tolist() == [2, 3, 4, 5]
        assert (curve.index.name, curve.name) == ("budget", "f1_macro")
        expected = [
            f1_score(y, clf.classes_[proba[:, b].argmax(1)], average="macro", zero_division=0)
            for b in curve.index
        ]
        np.testing.assert_allclose(curve, expected)
        assert clf.auac(X, y) == pytest.approx(np.mean(expected))
        accuracy = clf.acquisition_curve(X, y, [0, 3], metric="accuracy")
        predicted = clf.classes_[proba[:, 3].argmax(1)]
        assert accuracy[3] == pytest.approx(accuracy_score(y, predicted))
        loss = clf.acquisition_curve(X, y, iter([3]), metric="log_loss")
        exact = proba[:, 3].astype(float)
        exact /= exact.sum(1, keepdims=True)
        assert loss[3] == pytest.approx(log_loss(y, exact), rel=1e-4)

    def test_another_selector_on_the_same_predictor(self, clf, table):
        X, y = table
        a = clf.acquire(X, 3, selector=StaticSelector([2, 0, 1, 3, 4]))
        assert (a.order == [2, 0, 1]).all()
        random = clf.acquire(X, 5, selector=RandomSelector(seed=1))
        assert (np.sort(random.order, 1) == np.arange(5)).all()
        assert len(np.unique(random.order[:, 0])) > 1
        again = clf.acquire(X, 5, selector=RandomSelector(seed=1))
        np.testing.assert_array_equal(again.order, random.order)
        assert 0 <= clf.auac(X, y, selector=RandomSelector(seed=1)) <= 1

    def test_the_fit_is_on_record(self, clf):
        stages = [(row["stage"], row["epoch"]) for row in clf.history_]
        assert stages == [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]
        assert clf.config_.stage1_epochs == 3
        assert clf.max_budget_ == 4
        assert clf.features_.names == ("body", "smoker", "job", "grade", "visits")
        assert clf.feature_names_in_.tolist() == list(mixed()[0].columns)

    @pytest.mark.parametrize("error", [KeyboardInterrupt, InputError])
    def test_a_fit_that_fails_leaves_the_estimator_as_it_was(self, table, monkeypatch, error):
        X, y = table
        model = fit(X, y, max_budget=2)
        before, attributes = model.predict_proba(X), dict(vars(model))

        def fail(*_, **__):
            raise error

        monkeypatch.setattr("hyperdfs.estimator.fit_state", fail)
        with pytest.raises(error):
            model.fit(X[["age", "job"]].to_numpy(), y)
        assert vars(model).keys() == attributes.keys()
        assert all(vars(model)[name] is value for name, value in attributes.items())
        np.testing.assert_array_equal(model.predict_proba(X), before)
        unfitted = DFSClassifier("random")
        with pytest.raises(error):
            unfitted.fit(X, y)
        assert not hasattr(unfitted, "n_features_in_")


class TestLeaks:
    """What is not known cannot speak: neither to the predictor nor to the selector."""

    @settings(max_examples=20, deadline=None)
    @given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.1, 10.0, 1e6]))
    def test_unbought_values_move_nothing(self, plain, seed, scale):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(6, 4))
        before = plain.acquire(X, budget=2)
        other = np.where(before.masks(2), X, scale * rng.normal(size=X.shape))
        after = plain.acquire(other, budget=2)
        np.testing.assert_array_equal(after.order, before.order)
        np.testing.assert_array_equal(after.proba, before.proba)

    @settings(max_examples=20, deadline=None)
    @given(
        known=st.sets(st.sampled_from(["age", "smoker", "job", "grade", "visits", "height"])),
        seed=st.integers(0, 10**6),
    )
    def test_a_case_knows_only_what_was_observed(self, clf, known, seed):
        """The same known cells in two different rows give the same answers."""
        rows, _ = mixed(2, seed=seed, missing=False)
        for column in known:
            rows.loc[1, column] = rows.loc[0, column]
        hidden = rows.copy()
        for column in set(rows.columns) - known:
            hidden[column] = hidden[column].astype(object).where([False, False])
        # One at a time: the place of a row in a product may decide its last digit.
        first, second = (clf.predict_proba(hidden.iloc[[row]]) for row in (0, 1))
        np.testing.assert_array_equal(first, second)

    def test_a_bought_value_does_matter(self, plain):
        X = np.random.default_rng(0).normal(size=(50, 4))
        before = plain.acquire(X, budget=4)
        after = plain.acquire(-X, budget=4)
        assert not np.array_equal(before.proba, after.proba)


def test_predictions_from_several_threads(clf, table):
    expected = clf.predict_proba(table[0])
    with ThreadPoolExecutor(3) as pool:
        for proba in pool.map(lambda _: clf.predict_proba(table[0]), range(12)):
            np.testing.assert_array_equal(proba, expected)


def test_progress_is_silent_away_from_a_terminal(capsys):
    fit(*numbers(30), max_budget=1, verbose=1)
    assert capsys.readouterr() == ("", "")


def test_methods_by_name():
    X, y = numbers()
    ensemble = DFSClassifier("hyperens", max_budget=2, config=TINY).fit(X, y)
    assert ensemble._state.members == 5
    random = DFSClassifier("random", max_budget=4, config=TINY).fit(X, y)
    assert (np.sort(random.acquire(X).order, 1) == np.arange(4)).all()
