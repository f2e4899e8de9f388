"""Which rows a cell trains on and which it tests on: the same for every method and seed."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

SEED = 0


def kept_rows(labels: np.ndarray, max_rows: int | None) -> np.ndarray:
    """All rows, or `max_rows` of them with the classes in their proportions.

    Every class keeps at least one row. The choice depends on nothing but labels and size.
    """
    everything = np.arange(len(labels))
    if max_rows is None or len(labels) <= max_rows:
        return everything
    rng = np.random.default_rng(SEED)
    counts = np.bincount(labels)
    exact = counts * max_rows / len(labels)
    take = np.maximum(np.floor(exact).astype(int), counts > 0)
    by_remainder = np.argsort(take - exact, kind="stable")
    take[by_remainder[: max(max_rows - take.sum(), 0)]] += 1
    chosen = [
        rng.choice(np.flatnonzero(labels == c), size, replace=False) for c, size in enumerate(take)
    ]
    return np.sort(np.concatenate(chosen))


def fold_rows(
    labels: np.ndarray, rows: np.ndarray, n_folds: int, fold: int
) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows of a fold, as positions in the data set."""
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=SEED)
    with warnings.catch_warnings():
        # A class with fewer rows than folds is absent from some: nothing to be done about it.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        train, test = list(folds.split(rows, labels[rows]))[fold]
    return rows[train], rows[test]
