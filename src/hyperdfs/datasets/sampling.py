"""Some of the rows of a large data set."""

from __future__ import annotations

import numpy as np

from hyperdfs.datasets.base import IntArray

SEED = 0


def stratified_rows(labels: np.ndarray, most: int) -> IntArray:
    """Positions of `most` rows in ascending order, with the classes in their proportions.

    Every class keeps at least one row; all rows are kept where there are no more than `most`. The
    choice depends on nothing but labels and size, so that it is the same in every run.
    """
    if len(labels) <= most:
        return np.arange(len(labels))
    rng = np.random.default_rng(SEED)
    counts = np.bincount(labels)
    exact = counts * most / len(labels)
    take = np.maximum(np.floor(exact).astype(int), counts > 0)
    by_remainder = np.argsort(take - exact, kind="stable")
    take[by_remainder[: max(most - take.sum(), 0)]] += 1
    chosen = [
        rng.choice(np.flatnonzero(labels == c), size, replace=False) for c, size in enumerate(take)
    ]
    return np.sort(np.concatenate(chosen))
