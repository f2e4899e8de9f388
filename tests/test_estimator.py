"""The public contract: shapes, purchases, leaks, determinism, weights, labels."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, log_loss

from hyperdfs import DFSClassifier, HyperDFSClassifier
from hyperdfs.datasets import load_dataset
from hyperdfs.errors import HyperDFSError
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
        proba = clf.predict_proba(hidden)
        np.testing.assert_array_equal(proba[0], proba[1])

    def test_a_bought_value_does_matter(self, plain):
        X = np.random.default_rng(0).normal(size=(50, 4))
        before = plain.acquire(X, budget=4)
        after = plain.acquire(-X, budget=4)
        assert not np.array_equal(before.proba, after.proba)


class TestDeterminism:
    def test_same_seed_same_model_other_seed_other_model(self):
        X, y = mixed(40)
        first, again, other = (
            fit(X, y, max_budget=2, random_state=s, config={"teacher_weight": 0.5})
            for s in (3, 3, 4)
        )
        np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
        np.testing.assert_array_equal(first.acquire(X).order, again.acquire(X).order)
        assert first.history_ == again.history_
        assert not np.array_equal(first.predict_proba(X), other.predict_proba(X))

    def test_global_random_states_are_left_alone(self):
        torch.manual_seed(1)
        np.random.seed(1)
        before = torch.get_rng_state(), np.random.get_state()[1].copy()
        X, y = numbers(30)
        clf = fit(X, y, max_budget=2, config={"teacher_weight": 0.5})
        clf.acquire(X)
        assert torch.equal(torch.get_rng_state(), before[0])
        np.testing.assert_array_equal(np.random.get_state()[1], before[1])
        torch.manual_seed(2)
        np.random.seed(2)
        again = fit(X, y, max_budget=2, config={"teacher_weight": 0.5})
        np.testing.assert_array_equal(clf.predict_proba(X), again.predict_proba(X))

    def test_the_number_of_threads_does_not_matter(self):
        """Every fit runs on one thread, and the caller's setting comes back."""
        X, y = numbers(600, m=20)
        threads = torch.get_num_threads()
        weights = []
        try:
            for n in (1, 2):
                torch.set_num_threads(n)
                clf = fit(X, y, max_budget=2)
                assert torch.get_num_threads() == n
                modules = clf._state.model.modules
                weights.append({k: m.state_dict() for k, m in modules.items()})
        finally:
            torch.set_num_threads(threads)
        for name, state in weights[0].items():
            for key, value in state.items():
                assert torch.equal(value, weights[1][name][key]), (name, key)

    def test_a_random_state_generator_is_used_up(self):
        X, y = numbers()
        state = np.random.RandomState(0)
        first, second = fit(X, y, random_state=state), fit(X, y, random_state=state)
        assert not np.array_equal(first.predict_proba(X), second.predict_proba(X))


class TestWeights:
    def test_rows_of_weight_zero_are_as_good_as_absent(self):
        X, y = mixed(70)
        weight = np.random.default_rng(0).integers(0, 3, 70).astype(float)
        kept = weight > 0
        config = {"teacher_weight": 0.5}
        whole = fit(X, y, weight, max_budget=2, config=config)
        part = fit(X[kept], y[kept], weight[kept], max_budget=2, config=config)
        np.testing.assert_array_equal(whole.predict_proba(X), part.predict_proba(X))
        np.testing.assert_array_equal(whole.acquire(X).order, part.acquire(X).order)

    def test_a_class_of_weight_zero_is_no_class(self):
        X, y = numbers(60)
        labels = np.where(np.arange(60) < 10, "gone", np.where(y, "yes", "no"))
        clf = fit(X, labels, (labels != "gone").astype(float))
        assert clf.classes_.tolist() == ["no", "yes"]

    @pytest.mark.parametrize("unit", [1e-6, 1e300])
    def test_only_the_ratios_of_weights_count(self, unit):
        X, y = numbers(30)
        weight = np.random.default_rng(0).random(30) + 0.1
        config = {"teacher_weight": 0.5}
        one = fit(X, y, weight, max_budget=2, config=config).predict_proba(X)
        other = fit(X, y, unit * weight, max_budget=2, config=config).predict_proba(X)
        np.testing.assert_allclose(other, one, atol=1e-4)

    def test_heavy_rows_pull_the_prediction(self):
        X, _ = numbers(80)
        y = np.arange(80) % 2
        config = {"stage1_epochs": 15}
        heavy = fit(X, y, np.where(y == 1, 20.0, 1.0), config=config).predict_proba(X)[:, 1]
        light = fit(X, y, np.where(y == 1, 1.0, 20.0), config=config).predict_proba(X)[:, 1]
        assert heavy.mean() > 0.6 > 0.4 > light.mean()

    @pytest.mark.parametrize("teacher", [0.0, 0.5])
    def test_balanced_classes_raise_the_recall_of_the_rare_one(self, teacher):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 3))
        y = (X[:, 0] + rng.normal(size=300) > 1.8).astype(int)
        assert 0.05 < y.mean() < 0.2
        config = {"stage1_epochs": 12, "stage2_epochs": 1, "teacher_weight": teacher}
        recall = [
            fit(X, y, config=config | {"class_weight": w}).predict(X)[y == 1].mean()
            for w in (None, "balanced")
        ]
        assert recall[1] > recall[0] + 0.2

    @pytest.mark.parametrize("class_weight", [None, "balanced"])
    def test_the_teacher_is_given_weights_that_count_in_rows(self, monkeypatch, class_weight):
        """Its trees are regularised by the sum of weights; class shares alone would sum to 2."""
        given_weights = []

        def spy(readings, columns, labels, weight, n_classes, *, seed):
            given_weights.append(weight)

        monkeypatch.setattr("hyperdfs.fitting.cross_fitted", spy)
        X, y = numbers(40)
        weight = np.where(y, 1e-9, 2e-9)
        fit(X, y, weight, config={"teacher_weight": 0.5, "class_weight": class_weight})
        assert given_weights[0].mean() == pytest.approx(1.0, rel=0.1)


LABELS = {
    "int": (np.array([3, -1]), "i"),
    "str": (np.array(["no", "yes"]), "U"),
    "bool": (np.array([True, False]), "b"),
    "float": (np.array([1.0, 2.0]), "f"),
    "object of text": (np.array(["a", "bb"], dtype=object), "O"),
    "object of ints": (np.array([1, 0], dtype=object), "i"),
    "object of bools": (np.array([True, False], dtype=object), "b"),
    "list": (["a", "b"], "U"),
    "Int64": (pd.Series([1, 2], dtype="Int64"), "i"),
    "boolean": (pd.Series([True, False], dtype="boolean"), "b"),
    "string": (pd.Series(["u", "v"], dtype="string"), "O"),
    "categorical": (pd.Series(["u", "v"], dtype="category"), "O"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_keep_their_type(kind):
    labels, dtype = LABELS[kind]
    X, _ = numbers(40)
    y = [*labels] * 20 if kind == "list" else labels[np.arange(40) % 2]
    if isinstance(y, pd.Series):
        y = y.reset_index(drop=True)
    clf = fit(X, y, max_budget=1)
    assert clf.classes_.dtype.kind == dtype
    assert set(clf.classes_.tolist()) == set(np.asarray(labels).tolist())
    assert set(clf.predict(X).tolist()) <= set(clf.classes_.tolist())
    assert 0 <= clf.auac(X, y, [1]) <= 1


SMALL_TABLES = {
    "two rows": (np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1]),
    "equal rows": (np.zeros((4, 3)), [0, 1, 0, 1]),
    "one feature": (np.arange(40.0)[:, None], np.arange(40) > 20),
    "a class of one row": (numbers()[0], np.r_[2, numbers()[1][1:]]),
    "mostly classes of one row": (numbers(80)[0], np.r_[np.arange(2, 32), numbers(80)[1][30:]]),
    "a constant column": (np.c_[np.ones(60), numbers()[0]], numbers()[1]),
    "rows without any cell": (
        np.where(np.arange(60)[:, None] < 5, np.nan, numbers()[0]),
        numbers()[1],
    ),
    "one value in a column": (
        np.where((np.arange(60)[:, None] > 0) & (np.arange(4) == 1), np.nan, numbers()[0]),
        numbers()[1],
    ),
    "numbers beyond float32": (
        np.where(np.arange(240).reshape(60, 4) == 3, 1e50, numbers()[0]),
        numbers()[1],
    ),
    "integer column names": (pd.DataFrame(numbers()[0], columns=[7, 3, 5, 1]), numbers()[1]),
    "a repeated index": (pd.DataFrame(numbers()[0], index=[0] * 60), numbers()[1]),
}


@pytest.mark.parametrize("what", SMALL_TABLES)
def test_small_and_odd_tables(what):
    X, y = SMALL_TABLES[what]
    clf = fit(X, y, max_budget=2)
    proba = clf.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(1), 1.0, atol=1e-5)
    a = clf.acquire(X)
    assert np.isfinite(a.proba).all()
    assert all(len(set(row)) == a.budget for row in a.order.tolist())
    assert clf.start_case().recommend() is not None


TAUGHT = ["equal rows", "a class of one row", "numbers beyond float32", "one value in a column"]


@pytest.mark.parametrize("what", TAUGHT)
def test_small_and_odd_tables_with_a_teacher(what):
    X, y = SMALL_TABLES[what]
    clf = fit(X, y, max_budget=1, config={"teacher_weight": 0.5, "stage2_epochs": 1})
    assert np.isfinite(clf.predict_proba(X)).all()


@pytest.mark.parametrize(
    "variant",
    [
        {"encoder": "set_transformer"},
        {"encoder": "inducing_pool"},
        {"encoder": "deep_sets"},
        {"encoder": "raw_mask"},
        {"hypernetwork": False},
        {"embed_dim": None},
        {"masks_per_batch": None},
        {"compress_to": 3},
        {"replay": False},
        {"select_by": "auac"},
        {"primary": (8, 4), "hypernetwork": False},
    ],
    ids=str,
)
def test_variants_learn_the_one_feature_that_matters(variant):
    X, y = numbers(120)
    quick = {"stage1_epochs": 12, "stage1_lr": 0.02, "stage1_warmup": 1, "stage2_epochs": 1}
    clf = fit(X, y, max_budget=2, n_members=2, config=quick | variant)
    assert (clf.predict(X) == y).mean() > 0.85
    only_noise = X.copy()
    only_noise[:, 0] = np.nan
    assert (clf.predict(only_noise) == y).mean() < 0.8


def test_the_papers_preset():
    X, y = mixed()
    clf = HyperDFSClassifier(
        max_budget=3, preset="paper", config={"stage1_epochs": 2, "stage2_epochs": 1}
    ).fit(X, y)
    assert clf.config_.encoder == "set_transformer"
    assert clf._state.preprocessor.n_columns == X.shape[1]
    a = clf.acquire(X)
    assert np.isfinite(a.proba).all()
    # The paper imputes what is missing before the task starts, so every purchase gives something.
    full = a.proba[:, 1:] != a.proba[:, :-1]
    assert full.any(axis=2).mean() > 0.9


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


def test_prices_turn_the_selector_away_from_dear_features():
    """Two copies of the one useful feature: the cheap one is bought."""
    X, y = numbers(200, m=3)
    X[:, 1] = X[:, 0]
    config = {"stage1_epochs": 15, "stage2_epochs": 15, "selector_lr": 0.01, "cost_weight": 4.0}
    for costs, first in [([1.0, 9.0, 1.0], 0), ([9.0, 1.0, 1.0], 1)]:
        clf = fit(X, y, max_budget=2, costs=costs, config=config)
        assert (clf.acquire(X).order[:, 0] == first).all()


def test_a_fit_that_cannot_but_diverge_says_so():
    X, y = numbers()
    config = {"stage1_lr": 1e30, "stage1_epochs": 4, "stage1_warmup": 0}
    with (
        pytest.warns(RuntimeWarning, match="diverged and starts again"),
        pytest.raises(HyperDFSError, match=r"diverged 3 times.*smaller stage1_lr"),
    ):
        fit(X, y, config=config)


@pytest.mark.parametrize("rate", [0.3, 1.0, 5.0])
def test_a_far_too_large_step_never_gives_nan(rate):
    X, y = numbers()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Training diverged", RuntimeWarning)
        try:
            clf = fit(X, y, config={"stage1_lr": rate, "stage1_epochs": 4, "stage1_warmup": 0})
        except HyperDFSError:  # the message is tested above
            return
    assert np.isfinite(clf.predict_proba(X)).all()
    assert np.isfinite(clf.acquire(X).proba).all()


@pytest.fixture(scope="module")
def proxysub():
    data = load_dataset("proxysub", n_samples=2000)
    config = {
        "stage1_epochs": 20,
        "stage2_epochs": 6,
        "teacher_weight": 0.0,
        "n_bins": 0,
        "token_dim": 16,
        "condition_dim": 16,
        "hyper_width": 32,
        "primary": (32,),
        "selector_hidden": (32, 32),
    }
    return data, HyperDFSClassifier(max_budget=3, config=config).fit(data.X, data.y)


def test_probabilities_come_close_to_the_exact_posterior(proxysub):
    data, clf = proxysub
    fresh = load_dataset("proxysub", seed=1, n_samples=1000)
    mask = np.random.default_rng(0).random(fresh.X.shape) < 0.5
    exact = data.oracle.posterior(fresh.X.to_numpy(), mask)
    ours = clf.predict_proba(fresh.X.where(mask))
    assert np.abs(ours - exact).mean() < 0.05


def test_the_first_purchase_is_one_of_the_informative_features(proxysub):
    data, clf = proxysub
    first = np.unique(clf.acquire(data.X).order[:, 0])
    assert {clf.features_.names[i] for i in first} <= {"x1", "x2"}


def encoded_columns(y_of_x, n=2400):
    """Columns per feature that a default fit settles on, when nobody fixes the bins."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    y = y_of_x(X)
    quick = {"stage1_epochs": 2, "stage2_epochs": 1, "teacher_weight": 0.0}
    clf = HyperDFSClassifier(max_budget=2, config=quick)
    return clf.fit(X, y)._state.shape.n_columns / 3


def test_numbers_are_bent_where_that_pays_and_straight_where_not():
    """A short trial on the validation rows decides between z-scores alone and quantile columns."""
    noise = np.random.default_rng(1).random(2400)
    wavy = encoded_columns(lambda X: (np.sin(6.0 * X[:, 0]) > 0).astype(int))
    straight = encoded_columns(
        lambda X: (noise < 1.0 / (1.0 + np.exp(-2.0 * X @ [1.0, 1.0, 1.0]))).astype(int)
    )
    assert wavy > 5
    assert straight == 1
