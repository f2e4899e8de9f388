"""Soft targets: no row is taught by a model that saw it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from hyperdfs.training import teacher
from hyperdfs.training.targets import make_targets
from hyperdfs.training.teacher import FOLDS, cross_fitted, mixing_shares


def noise(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.integers(0, 2, n)


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """The real teachers with fewer trees."""
    original = teacher.teachers
    fewer = {RandomForestClassifier: "n_estimators", HistGradientBoostingClassifier: "max_iter"}

    def small(n, n_columns, seed):
        several = original(n, n_columns, seed)
        for model, _ in several:
            if type(model) in fewer:
                model.set_params(**{fewer[type(model)]: 20})
        return several

    monkeypatch.setattr(teacher, "teachers", small)


def trees(kind):
    """The one teacher of a small table that is of this kind."""
    (found,) = (model for model, _ in teacher.teachers(100, 3, 0) if isinstance(model, kind))
    return found


def taught_by(x, labels, weight=None, n_classes=2, seed=0):
    """Complete tables look the same to trees and to linear models."""
    weight = np.ones(len(labels)) if weight is None else weight
    return cross_fitted(x, np.nan_to_num(x), labels, weight, n_classes, seed=seed)


def gain_over_trees(x, labels):
    """How much more likely, in the mean log, the teachers find the labels than boosted trees."""
    shares, folds = np.array([0.5, 0.5]), teacher._folds(labels, 0)
    boosted = trees(HistGradientBoostingClassifier)
    alone = teacher._out_of_fold(boosted, x, labels, np.ones(len(x)), shares, folds)
    truth = np.arange(len(x)), labels
    return np.log(taught_by(x, labels)[truth]).mean() - np.log(alone[truth]).mean()


@pytest.mark.parametrize("kind", [RandomForestClassifier, HistGradientBoostingClassifier])
def test_targets_of_pure_noise_do_not_know_their_own_label(kind):
    x, labels = noise()
    model = trees(kind)
    shares = np.bincount(labels) / len(labels)
    folds = teacher._folds(labels, seed=0)
    taught = teacher._out_of_fold(model, x, labels, np.ones(len(labels)), shares, folds)
    by_heart = model.fit(x, labels).predict_proba(x)
    assert np.corrcoef(by_heart[:, 1], labels)[0, 1] > 0.5
    assert np.corrcoef(taught[:, 1], labels)[0, 1] < 0.2


def test_no_target_of_a_row_moves_with_its_own_label():
    """The models that teach a row have not seen its label."""
    x, labels = noise(60, seed=3)
    labels = np.where(x[:, 0] > 0, 1, labels)
    folds = teacher._folds(labels, seed=0)
    shares, rest = np.array([0.5, 0.5]), folds[0][1]
    flipped = labels.copy()
    flipped[rest] = 1 - flipped[rest]
    for one in teacher.teachers(60, x.shape[1], 0):
        before, after = (
            teacher._out_of_fold(one.model, x, given, np.ones(60), shares, folds)
            for given in (labels, flipped)
        )
        np.testing.assert_array_equal(before[rest], after[rest])
        assert not np.array_equal(before, after)


def test_rows_without_labels_are_taught_and_teach_nobody():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 4))
    labels = (x[:, 0] > 0).astype(int)
    alone = taught_by(x[:150], labels[:150])
    both = taught_by(x, labels[:150])
    np.testing.assert_array_equal(both[:150], alone)
    np.testing.assert_allclose(both.sum(1), 1.0)
    right = both[np.arange(150, 200), labels[150:]]
    assert (right > 0.5).mean() > 0.9


def test_the_mixture_is_the_most_likely_one():
    rng = np.random.default_rng(0)
    likelihood = rng.uniform(0.05, 0.95, (3, 200))
    weight = rng.uniform(0.5, 2.0, 200)
    mix = mixing_shares(likelihood, weight)
    assert mix.sum() == pytest.approx(1.0)
    assert (mix >= 0).all()
    best = np.average(np.log(mix @ likelihood), weights=weight)
    for other in rng.dirichlet(np.ones(3), 300):
        assert np.average(np.log(other @ likelihood), weights=weight) <= best + 1e-4


def test_a_linear_table_is_taught_by_the_linear_model():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 8))
    labels = (x.sum(1) > 0).astype(int)
    assert gain_over_trees(x, labels) > 0.1


def test_a_pair_that_counts_only_together_is_taught_by_the_products():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 6))
    labels = (rng.random(400) < 1.0 / (1.0 + np.exp(-4.0 * x[:, 0] * x[:, 1]))).astype(int)
    assert gain_over_trees(x, labels) > 0.05


def test_products_hold_columns_squares_and_pairs_of_unit_variance():
    x = np.random.default_rng(0).normal(size=(50, 3))
    x[:, 2] = 1.0
    terms = teacher.products(np.vstack([x, 9.0 + x]), len(x))[: len(x)]
    plain = [*x.T, *(x[:, i] * x[:, j] for i in range(3) for j in range(i, 3))]
    assert terms.shape == (50, len(plain))
    for term, expected in zip(terms.T, plain, strict=True):
        spread = expected.std() or 1.0
        np.testing.assert_allclose(term, (expected - expected.mean()) / spread, atol=1e-9)


def test_wide_tables_do_without_products():
    wide = teacher.teachers(100, teacher.MOST_PAIRED + 1, 0)
    narrow = teacher.teachers(100, teacher.MOST_PAIRED, 0)
    assert "products" not in {one.reads for one in wide}
    assert "products" in {one.reads for one in narrow}


def test_a_label_that_only_one_row_has_cannot_be_taught_to_it():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    labels = (x[:, 0] > 0).astype(int)
    labels[7] = 2
    weight = np.ones(80)
    taught = taught_by(x, labels, weight, 3)
    assert taught is not None
    share = 1 / 80
    assert taught[7, 2] == pytest.approx(0.01 * share)
    np.testing.assert_allclose(taught.sum(1), 1.0)
    assert (taught > 0).all()


def test_a_mislabelled_row_is_taught_what_its_neighbours_say():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(100, 2))
    labels = (x[:, 0] > 0).astype(int)
    flipped = labels.copy()
    row = int(np.argmax(x[:, 0]))  # deep inside class 1
    flipped[row] = 0
    taught = taught_by(x, flipped)
    assert taught[row, 1] > 0.8


@pytest.mark.parametrize("n", [1, 4 * FOLDS - 1])
def test_none_when_there_are_too_few_rows(n):
    x, labels = noise(n)
    assert taught_by(x, labels) is None


def test_none_when_only_one_class_can_be_split():
    x, _ = noise(60)
    labels = np.zeros(60, int)
    labels[: FOLDS - 1] = 1
    assert taught_by(x, labels) is None


def test_none_when_nothing_beats_the_class_shares():
    x, labels = noise()
    assert taught_by(x, labels) is None


def test_missing_readings_and_weights_are_used():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 2))
    labels = (x[:, 0] > 0).astype(int)
    x[rng.random(x.shape) < 0.2] = np.nan
    taught = taught_by(x, labels)
    assert (taught.argmax(1) == labels).mean() > 0.7
    heavy = taught_by(x, labels, np.where(labels, 10.0, 1.0))
    assert heavy[:, 1].mean() > taught[:, 1].mean()


def test_same_seed_same_targets():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    labels = (x[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    first, again, other = (taught_by(x, labels, seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_targets_are_labels_and_opinions_in_the_given_shares():
    x, _ = noise(80)
    labels = (x[:, 0] > 0).astype(int)

    def targets(share, emphasis=(1.0, 1.0)):
        given = x, x, labels, np.ones(80), np.array(emphasis)
        return make_targets(*given, share=share, seed=0, progress=lambda *_: None)[0]

    made, one_hot = targets(0.25), np.eye(2)[labels]
    np.testing.assert_allclose(made.mixed, 0.75 * one_hot + 0.25 * made.taught)
    none = targets(0.0)
    assert none.taught is None
    np.testing.assert_array_equal(none.mixed, one_hot)
    odds = made.taught[:, 1] / made.taught[:, 0]
    tilted = targets(0.25, (1.0, 3.0)).taught
    np.testing.assert_allclose(tilted[:, 1] / tilted[:, 0], 3.0 * odds)
