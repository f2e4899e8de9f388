"""Scores of probabilities along a trajectory, for ``proba`` of shape (n, steps, C)."""

from __future__ import annotations

import numpy as np

from hyperdfs.errors import InputError


def macro_f1(labels: np.ndarray, predicted: np.ndarray, n_classes: int) -> float:
    """Macro-F1 over all C classes; a class that never occurs nor is predicted counts as 0.

    >>> round(macro_f1(np.array([0, 0, 1]), np.array([0, 1, 1]), 2), 4)
    0.6667
    """
    counts = np.bincount(labels * n_classes + predicted, minlength=n_classes * n_classes)
    table = counts.reshape(n_classes, n_classes)
    hits = np.diag(table)
    total = table.sum(0) + table.sum(1)
    return float(np.mean(np.divide(2.0 * hits, total, out=np.zeros(n_classes), where=total > 0)))


def macro_f1_curve(labels: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Macro-F1 after each step, (steps,)."""
    n_classes = proba.shape[2]
    return np.array([macro_f1(labels, step, n_classes) for step in proba.argmax(2).T])


def mean_macro_f1(labels: np.ndarray, proba: np.ndarray) -> float:
    """Unweighted mean of macro-F1 over the steps: the paper's AUAC-F1 when the steps are its
    budgets."""
    return float(macro_f1_curve(labels, proba).mean())


def mean_log_loss(labels: np.ndarray, proba: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Mean over rows and steps of -log p(y)."""
    chosen = np.take_along_axis(proba, labels[:, None, None], 2)[..., 0]
    loss = -np.log(np.maximum(chosen.astype(float), 1e-12)).mean(1)
    return float(np.average(loss, weights=weight))


def accuracy_curve(labels: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Accuracy after each step, (steps,)."""
    curve: np.ndarray = (proba.argmax(2) == labels[:, None]).mean(0)
    return curve


def log_loss_curve(labels: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Mean -log p(y) after each step, (steps,)."""
    return np.array([mean_log_loss(labels, proba[:, [step]]) for step in range(proba.shape[1])])


METRICS = {
    "f1_macro": macro_f1_curve,
    "accuracy": accuracy_curve,
    "log_loss": log_loss_curve,
}


def metric_curve(metric: str, labels: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """The named metric after each step."""
    if metric not in METRICS:
        raise InputError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}.")
    return METRICS[metric](labels, proba)
