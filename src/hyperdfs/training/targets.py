"""What a fit learns: labels, what teachers say of them, and how much each class counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hyperdfs.training.loop import Progress
from hyperdfs.training.teacher import cross_fitted

LARGEST = 1e30  # well inside float32


class Target(NamedTuple):
    """Class probabilities of some rows, (n, C)."""

    mixed: np.ndarray  # what is learnt; of validation rows the labels
    taught: np.ndarray | None = None  # what the teachers alone say, who have not seen the row


def make_targets(
    readings: np.ndarray,
    columns: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    emphasis: np.ndarray,
    *,
    share: float,
    seed: int,
    progress: Progress,
) -> tuple[Target, np.ndarray | None]:
    """One-hot labels, mixed with a share of the teachers' opinion where there is one.

    readings, columns : of rows to learn from and then of others, as `cross_fitted` wants them.

    Returns also what the teachers say of the others.
    """
    one_hot = np.eye(len(emphasis))[labels]
    if not share:
        return Target(one_hot), None
    progress("teacher", 0, 1)
    readings = np.clip(readings, -LARGEST, LARGEST)  # trees hold values in float32
    taught = cross_fitted(readings, columns, labels, weight, len(emphasis), seed=seed)
    progress("teacher", 1, 1)
    if taught is None:
        return Target(one_hot), None
    taught, others = np.split(tilted(taught, emphasis), [len(labels)])
    return Target((1.0 - share) * one_hot + share * taught, taught), others


def tilted(taught: np.ndarray, emphasis: np.ndarray) -> np.ndarray:
    """Towards the classes whose rows count for more, as labels of such rows are.

    The teachers see every class as often as it occurs.
    """
    weighted = taught * emphasis
    proba: np.ndarray = weighted / weighted.sum(1, keepdims=True)
    return proba


def class_emphasis(
    labels: np.ndarray, weight: np.ndarray, n_classes: int, class_weight: str | None
) -> np.ndarray:
    """How much a row of each class counts, (C,); on average over the rows about 1."""
    power = {None: 0.0, "root": 0.5, "balanced": 1.0}[class_weight]
    counts = np.bincount(labels, weights=weight, minlength=n_classes)
    emphasis: np.ndarray = (counts.mean() / counts) ** power
    return emphasis
