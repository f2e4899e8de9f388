"""Weights of rows and of classes."""

from __future__ import annotations

import numpy as np
import pytest

from small_tables import fit, mixed, numbers


def test_rows_of_weight_zero_are_as_good_as_absent():
    X, y = mixed(70)
    weight = np.random.default_rng(0).integers(0, 3, 70).astype(float)
    kept = weight > 0
    config = {"teacher_weight": 0.5}
    whole = fit(X, y, weight, max_budget=2, config=config)
    part = fit(X[kept], y[kept], weight[kept], max_budget=2, config=config)
    np.testing.assert_array_equal(whole.predict_proba(X), part.predict_proba(X))
    np.testing.assert_array_equal(whole.acquire(X).order, part.acquire(X).order)


def test_a_class_of_weight_zero_is_no_class():
    X, y = numbers(60)
    labels = np.where(np.arange(60) < 10, "gone", np.where(y, "yes", "no"))
    clf = fit(X, labels, (labels != "gone").astype(float))
    assert clf.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("unit", [1e-6, 1e300])
def test_only_the_ratios_of_weights_count(unit):
    X, y = numbers(30)
    weight = np.random.default_rng(0).random(30) + 0.1
    config = {"teacher_weight": 0.5}
    one = fit(X, y, weight, max_budget=2, config=config).predict_proba(X)
    other = fit(X, y, unit * weight, max_budget=2, config=config).predict_proba(X)
    np.testing.assert_allclose(other, one, atol=1e-4)


def test_heavy_rows_pull_the_prediction():
    X, _ = numbers(80)
    y = np.arange(80) % 2
    config = {"stage1_epochs": 15}
    heavy = fit(X, y, np.where(y == 1, 20.0, 1.0), config=config).predict_proba(X)[:, 1]
    light = fit(X, y, np.where(y == 1, 1.0, 20.0), config=config).predict_proba(X)[:, 1]
    assert heavy.mean() > 0.6 > 0.4 > light.mean()


@pytest.mark.parametrize("teacher", [0.0, 0.5])
def test_balanced_classes_raise_the_recall_of_the_rare_one(teacher):
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
def test_the_teacher_is_given_weights_that_count_in_rows(monkeypatch, class_weight):
    """Its trees are regularised by the sum of weights; class shares alone would sum to 2."""
    given_weights = []

    def spy(readings, columns, labels, weight, n_classes, *, seed):
        given_weights.append(weight)

    monkeypatch.setattr("hyperdfs.training.targets.cross_fitted", spy)
    X, y = numbers(40)
    weight = np.where(y, 1e-9, 2e-9)
    fit(X, y, weight, config={"teacher_weight": 0.5, "class_weight": class_weight})
    assert given_weights[0].mean() == pytest.approx(1.0, rel=0.1)
