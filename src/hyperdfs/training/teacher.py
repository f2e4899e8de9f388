"""Soft targets from a cross-fitted model of all features.

Labels are noisy draws of p(y | x), and the best predictor of a subset is E[p(y | x) | x_S]. A
strong model of the whole row has the same target with less variance. Every row is taught by a
model that was fitted without it.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

FOLDS = 5
MANY_ROWS = 3000  # from here on boosting is the better teacher and a forest the slower one


def _candidates(n: int, seed: int) -> list:
    boosted = HistGradientBoostingClassifier(
        learning_rate=0.06,
        max_iter=150,
        max_leaf_nodes=15,
        min_samples_leaf=max(5, min(20, n // 50)),
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )
    if n >= MANY_ROWS:
        return [boosted]
    forest = ExtraTreesClassifier(
        n_estimators=200, min_samples_leaf=2, max_features="sqrt", random_state=seed
    )
    return [forest, boosted]


def cross_fitted(
    readings: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    *,
    seed: int,
) -> np.ndarray | None:
    """Out-of-fold class probabilities (n, C) of the better teacher, by out-of-fold log-loss.

    readings : (n, columns) numbers and category codes, NaN where missing.

    None when there is nothing to teach: too few rows, or no model beats the class shares.
    """
    counts = np.bincount(labels, minlength=n_classes)
    if len(labels) < 4 * FOLDS or np.sort(counts)[-2] < FOLDS:
        return None
    shares = np.average(np.eye(n_classes)[labels], axis=0, weights=weight)
    best = np.tile(shares, (len(labels), 1))
    best_loss = _loss(labels, best, weight)
    found = False
    for model in _candidates(len(labels), seed):
        proba = _out_of_fold(model, readings, labels, weight, shares, seed)
        loss = _loss(labels, proba, weight)
        if loss < best_loss:
            best, best_loss, found = proba, loss, True
    return best if found else None


def _loss(labels: np.ndarray, proba: np.ndarray, weight: np.ndarray) -> float:
    return float(log_loss(labels, proba, sample_weight=weight, labels=np.arange(proba.shape[1])))


def _out_of_fold(
    model: object,
    x: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    shares: np.ndarray,
    seed: int,
) -> np.ndarray:
    proba = np.tile(shares, (len(labels), 1))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer members than folds
        splits = list(folds.split(x, labels))
    for train, rest in splits:
        seen = ~np.isnan(x[train]).all(0)  # trees cannot bin a column without a value
        model.fit(x[train][:, seen], labels[train], sample_weight=weight[train])  # type: ignore[attr-defined]
        # A little of the class shares keeps every target positive.
        known = np.zeros((len(rest), proba.shape[1]))
        known[:, model.classes_] = model.predict_proba(x[rest][:, seen])  # type: ignore[attr-defined]
        proba[rest] = 0.99 * known + 0.01 * shares
    return proba
