"""Which rows a cell trains on and which it tests on: the same for every method and seed."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from hyperdfs.datasets.sampling import stratified_rows

SEED = 0


def kept_rows(labels: np.ndarray, max_rows: int | None) -> np.ndarray:
    """All rows, or about `max_rows` of them with the classes in their proportions."""
    return np.arange(len(labels)) if max_rows is None else stratified_rows(labels, max_rows)


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
