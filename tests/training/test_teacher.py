"""Soft targets: no row is taught by a model that saw it."""

from __future__ import annotations

import numpy as np
import pytest

from hyperdfs.training import teacher
from hyperdfs.training.teacher import FOLDS, cross_fitted


def noise(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.integers(0, 2, n)


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """The real teachers with fewer trees."""
    original = teacher._candidates

    def small(n, seed):
        forest, boosted = original(n, seed)
        return [forest.set_params(n_estimators=20), boosted.set_params(max_iter=20)]

    monkeypatch.setattr(teacher, "_candidates", small)


@pytest.mark.parametrize("which", [0, 1])
def test_targets_of_pure_noise_do_not_know_their_own_label(which):
    x, labels = noise()
    model = teacher._candidates(len(labels), 0)[which]
    shares = np.bincount(labels) / len(labels)
    taught = teacher._out_of_fold(model, x, labels, np.ones(len(labels)), shares, seed=0)
    by_heart = model.fit(x, labels).predict_proba(x)
    assert np.corrcoef(by_heart[:, 1], labels)[0, 1] > 0.5
    assert np.corrcoef(taught[:, 1], labels)[0, 1] < 0.2


def test_a_label_that_only_one_row_has_cannot_be_taught_to_it():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    labels = (x[:, 0] > 0).astype(int)
    labels[7] = 2
    weight = np.ones(80)
    taught = cross_fitted(x, labels, weight, 3, seed=0)
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
    taught = cross_fitted(x, flipped, np.ones(100), 2, seed=0)
    assert taught[row, 1] > 0.8


@pytest.mark.parametrize("n", [1, 4 * FOLDS - 1])
def test_none_when_there_are_too_few_rows(n):
    x, labels = noise(n)
    assert cross_fitted(x, labels, np.ones(n), 2, seed=0) is None


def test_none_when_only_one_class_can_be_split():
    x, _ = noise(60)
    labels = np.zeros(60, int)
    labels[: FOLDS - 1] = 1
    assert cross_fitted(x, labels, np.ones(60), 2, seed=0) is None


def test_none_when_nothing_beats_the_class_shares():
    x, labels = noise()
    assert cross_fitted(x, labels, np.ones(len(labels)), 2, seed=0) is None


def test_missing_readings_and_weights_are_used():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 2))
    labels = (x[:, 0] > 0).astype(int)
    x[rng.random(x.shape) < 0.2] = np.nan
    taught = cross_fitted(x, labels, np.ones(150), 2, seed=0)
    assert (taught.argmax(1) == labels).mean() > 0.7
    heavy = cross_fitted(x, labels, np.where(labels, 10.0, 1.0), 2, seed=0)
    assert heavy[:, 1].mean() > taught[:, 1].mean()


def test_same_seed_same_targets():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    labels = (x[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    first, again, other = (cross_fitted(x, labels, np.ones(60), 2, seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
