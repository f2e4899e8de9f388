"""Scores of probabilities along a trajectory, for ``proba`` of shape (n, steps, C)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from hyperdfs.errors import InputError

PAPER_BUDGETS = range(2, 11)  # of the AUAC-F1
BINS = 15  # of the calibration error
LEAST = float(np.finfo(np.float32).eps)  # a probability below counts as this in the log loss
NOISE = 6  # decimals of a probability beyond which a float32 network only has rounding errors


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


def budget_mean(curve: Sequence[float]) -> float:
    """Mean over the paper's budgets of a curve after 0, 1, … purchases: of macro-F1, the AUAC-F1.

    Budgets beyond the curve are dropped; a table of one feature has its last value.

    >>> budget_mean([0.1, 0.2, 0.5, 0.7]), budget_mean([0.1, 0.2])
    (0.6, 0.2)
    """
    first, last = PAPER_BUDGETS[0], PAPER_BUDGETS[-1]
    return float(np.mean(curve[min(first, len(curve) - 1) : last + 1]))


def affordable(budgets: Sequence[int], n_features: int) -> list[int]:
    """Those of the budgets that a table of so many features can use up.

    The paper's budgets begin at 2; a table of one feature is scored after its only purchase.

    >>> affordable(PAPER_BUDGETS, 3), affordable(PAPER_BUDGETS, 1), affordable([5], 1)
    ([2, 3], [1], [])
    """
    kept = [budget for budget in budgets if budget <= n_features]
    return [n_features] if not kept and list(budgets) == list(PAPER_BUDGETS) else kept


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
    """Mean -log p(y) after each step, (steps,); one sure mistake costs at most 16."""
    kept = np.maximum(proba, LEAST)
    return np.array([mean_log_loss(labels, kept[:, [step]]) for step in range(proba.shape[1])])


def auroc_curve(labels: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Area under the ROC curve after each step, (steps,): each class against the rest, then their
    mean. A class without a row, or with all rows, has no such area and is left out; NaN if none
    is left."""
    truth = np.eye(proba.shape[2], dtype=bool)[labels]
    n_true = truth.sum(0)
    n_pairs = n_true * (len(labels) - n_true)
    defined = n_pairs > 0
    if not defined.any():
        return np.full(proba.shape[1], np.nan)
    curve = []
    for step in range(proba.shape[1]):
        ranks = rankdata(np.round(proba[:, step, defined].astype(float), NOISE), axis=0)
        won = (ranks * truth[:, defined]).sum(0) - n_true[defined] * (n_true[defined] + 1) / 2
        curve.append(np.mean(won / n_pairs[defined]))
    return np.array(curve)


def brier_curve(labels: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Half the mean squared distance between probabilities and the one-hot label, (steps,): 0 is
    perfect, 1 is sure and always wrong."""
    truth = np.eye(proba.shape[2])[labels][:, None]
    curve: np.ndarray = 0.5 * ((proba - truth) ** 2).sum(2).mean(0)
    return curve


def ece_curve(labels: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Expected calibration error after each step, (steps,): the gap between confidence and accuracy
    of the predicted class, in 15 equally wide bins, weighted by their rows.

    The bin of a row is that of its confidence in half precision, as results are stored, so that
    stored probabilities fall into the same bins.
    """
    confidence, right = proba.max(2).astype(float), proba.argmax(2) == labels[:, None]
    bins = np.ceil(confidence.astype(np.float16).astype(float) * BINS).astype(int)
    gaps = [
        np.bincount(bins[:, step], weights=(confidence - right)[:, step], minlength=BINS + 1)
        for step in range(proba.shape[1])
    ]
    curve: np.ndarray = np.abs(gaps).sum(1) / len(labels)
    return curve


METRICS = {
    "f1_macro": macro_f1_curve,
    "accuracy": accuracy_curve,
    "auroc": auroc_curve,
    "log_loss": log_loss_curve,
    "brier": brier_curve,
    "ece": ece_curve,
}


def metric_curve(metric: str, labels: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """The named metric after each step."""
    if metric not in METRICS:
        raise InputError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}.")
    return METRICS[metric](labels, proba)
