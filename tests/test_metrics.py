"""Scores along a trajectory equal scikit-learn's, step by step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, log_loss, roc_auc_score

from hyperdfs.errors import InputError
from hyperdfs.metrics import (
    METRICS,
    budget_mean,
    macro_f1,
    macro_f1_curve,
    mean_log_loss,
    mean_macro_f1,
    metric_curve,
)


@st.composite
def trajectories(draw):
    n, steps, c = draw(st.integers(1, 30)), draw(st.integers(1, 4)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return rng.integers(0, c, n), rng.dirichlet(np.ones(c), (n, steps))


def calibration_error(labels, proba):
    """The textbook's loop over bins, whose edges are compared in half precision."""
    confidence, right = proba.max(1), proba.argmax(1) == labels
    half = confidence.astype(np.float16).astype(float)
    error = 0.0
    for i in range(15):
        inside = (half > i / 15) & (half <= (i + 1) / 15)
        if inside.any():
            error += inside.mean() * abs(confidence[inside].mean() - right[inside].mean())
    return error


@settings(max_examples=50, deadline=None)
@given(trajectories())
def test_equal_to_scikit_learn(trajectory):
    labels, proba = trajectory
    n_classes = proba.shape[2]
    every = list(range(n_classes))
    for step in range(proba.shape[1]):
        at, predicted = proba[:, step], proba[:, step].argmax(1)
        f1 = f1_score(labels, predicted, labels=every, average="macro", zero_division=0)
        curves = {name: metric_curve(name, labels, proba)[step] for name in METRICS}
        assert curves["f1_macro"] == pytest.approx(f1)
        assert macro_f1(labels, predicted, n_classes) == pytest.approx(f1)
        assert curves["accuracy"] == pytest.approx(accuracy_score(labels, predicted))
        assert curves["log_loss"] == pytest.approx(log_loss(labels, at, labels=every))
        truth = np.eye(n_classes)[labels]
        assert curves["brier"] == pytest.approx(0.5 * ((at - truth) ** 2).sum(1).mean())
        areas = [roc_auc_score(truth[:, c], at[:, c]) for c in every if 0 < truth[:, c].mean() < 1]
        assert curves["auroc"] == pytest.approx(np.mean(areas) if areas else np.nan, nan_ok=True)
        assert curves["ece"] == pytest.approx(calibration_error(labels, at))
    assert mean_macro_f1(labels, proba) == pytest.approx(macro_f1_curve(labels, proba).mean())


def test_a_class_that_never_occurs_counts_as_zero():
    labels = np.zeros(4, int)
    sure = np.tile([[1.0, 0.0, 0.0]], (4, 1, 1)).reshape(4, 1, 3)
    assert mean_macro_f1(labels, sure) == pytest.approx(1 / 3)


def test_weights_and_impossible_labels_of_the_log_loss():
    labels = np.array([0, 1])
    proba = np.array([[[1.0, 0.0]], [[1.0, 0.0]]])
    assert mean_log_loss(labels, proba, weight=np.array([1.0, 0.0])) == 0.0
    assert np.isfinite(mean_log_loss(labels, proba))
    assert mean_log_loss(labels, proba) > 10


def test_the_mean_over_budgets_is_that_of_2_to_10():
    assert budget_mean([9.0, 9.0, 1.0, 2.0]) == 1.5
    assert budget_mean([9.0, 4.0]) == 4.0  # a table of one feature
    assert budget_mean([9.0, 9.0, *[1.0] * 9, 9.0, 9.0]) == 1.0
    assert np.isnan(budget_mean([0.5, 0.5, np.nan, 0.5]))


def test_an_unknown_metric():
    with pytest.raises(InputError, match=r"one of f1_macro, accuracy, auroc, .*, got 'auc'"):
        metric_curve("auc", np.zeros(1, int), np.ones((1, 1, 2)))


def test_rounding_errors_are_ties_of_the_ranking():
    labels = np.array([0, 1] * 10)
    noise = 1e-9 * np.arange(20) * (2 * labels - 1)
    same = np.stack([0.5 - noise, 0.5 + noise], 1)[:, None]
    assert metric_curve("auroc", labels, same)[0] == 0.5


def test_sure_and_wrong():
    proba = np.array([[[1.0, 0.0]], [[1.0, 0.0]]])
    assert metric_curve("brier", np.array([1, 1]), proba)[0] == 1
    assert metric_curve("ece", np.array([1, 1]), proba)[0] == 1
    assert 15 < metric_curve("log_loss", np.array([1, 1]), proba)[0] < 16
    assert np.isnan(metric_curve("auroc", np.array([1, 1]), proba)[0])
