"""Soft targets from cross-fitted models of all features.

Labels are noisy draws of p(y | x), and the best predictor of a subset is E[p(y | x) | x_S]. A
strong model of the whole row has the same target with less variance. Every row is taught by
models that were fitted without it; how much each of them counts is found on the other rows.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import PolynomialFeatures

FOLDS = 5
MANY_ROWS = 3000  # from here on boosting is better than forests and lines
MOST_PAIRED = 60  # columns: their products are some 1,900
MIXING_STEPS = 100
FLOOR = 0.01  # share of the class frequencies in every opinion: keeps each target positive


class Teacher(NamedTuple):
    """A scikit-learn classifier and what it reads: "readings", "columns" or "products"."""

    model: Any
    reads: str


def teachers(n: int, n_columns: int, seed: int) -> list[Teacher]:
    """Models that fail in different ways; which of them a table needs shows out of fold."""
    pairs = [_linear(c, "products") for c in (0.1, 0.001)] if n_columns <= MOST_PAIRED else []
    if n >= MANY_ROWS:
        return [_boosted(150, 15, 20, seed), _boosted(300, 31, 20, seed), *pairs]
    forest = RandomForestClassifier(n_estimators=200, min_samples_leaf=3, random_state=seed)
    return [
        *(_linear(c, "columns") for c in (1.0, 0.1, 0.01)),
        Teacher(forest, "readings"),
        _boosted(80, 8, 10, seed),
        *pairs,
    ]


def _linear(c: float, reads: str) -> Teacher:
    return Teacher(LogisticRegression(C=c, max_iter=300), reads)


def _boosted(trees: int, leaves: int, rows_per_leaf: int, seed: int) -> Teacher:
    model = HistGradientBoostingClassifier(
        learning_rate=0.06,
        max_iter=trees,
        max_leaf_nodes=leaves,
        min_samples_leaf=rows_per_leaf,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )
    return Teacher(model, "readings")


def cross_fitted(
    readings: np.ndarray,
    columns: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    *,
    seed: int,
) -> np.ndarray | None:
    """Out-of-fold class probabilities (n, C): what the teachers say, mixed by their likelihood.

    readings : (n, ·) numbers and category codes, NaN where missing, for trees.
    columns : (n, D) scaled numbers and one-hot categories, 0 where missing, for linear models.
    labels, weight : of the first rows; no teacher learns from the others, and all teach them.

    None when there is nothing to teach: too few rows, or no mixture beats the class shares.
    """
    counts = np.bincount(labels, minlength=n_classes)
    if len(labels) < 4 * FOLDS or np.sort(counts)[-2] < FOLDS:
        return None
    shares = np.average(np.eye(n_classes)[labels], axis=0, weights=weight)
    folds = _folds(labels, seed)
    inputs = {"readings": readings, "columns": columns}
    taught_by = teachers(len(labels), columns.shape[1], seed)
    if any(teacher.reads == "products" for teacher in taught_by):
        inputs["products"] = products(columns, len(labels))
    equal = np.ptp(weight) == 0.0
    opinions = np.stack(
        [
            _out_of_fold(
                teacher.model,
                inputs[teacher.reads],
                labels,
                None if equal else weight,  # weights make boosting's binning ten times slower
                shares,
                folds,
            )
            for teacher in taught_by
        ]
    )
    mixed, others = np.zeros_like(opinions[0]), slice(len(labels), None)
    for train, rest in folds:
        mix = mixing_shares(opinions[:, train, labels[train]], weight[train])
        mixed[rest] = np.tensordot(mix, opinions[:, rest], 1)
        mixed[others] += np.tensordot(mix, opinions[:, others], 1) / len(folds)
    constant = np.tile(shares, (len(labels), 1))
    return mixed if _loss(labels, mixed, weight) < _loss(labels, constant, weight) else None


def products(columns: np.ndarray, n: int) -> np.ndarray:
    """The columns, their squares and the products of all pairs, of unit variance in the first n.

    Pairs that count only together are what trees find last: neither half is worth a split.
    """
    terms = PolynomialFeatures(degree=2, include_bias=False).fit_transform(columns)
    spread = terms[:n].std(0)
    scaled: np.ndarray = (terms - terms[:n].mean(0)) / np.where(spread > 0.0, spread, 1.0)
    return scaled


def mixing_shares(likelihood: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Shares of the mixture that makes the labels most likely, by EM.

    likelihood : (teachers, n) probability that each teacher gave to the label of each row.

    >>> mixing_shares(np.array([[0.9, 0.8], [0.5, 0.5]]), np.ones(2)).round(2).tolist()
    [1.0, 0.0]
    """
    mix = np.full(len(likelihood), 1.0 / len(likelihood))
    for _ in range(MIXING_STEPS):
        credit = mix[:, None] * likelihood
        mix = np.average(credit / credit.sum(0), axis=1, weights=weight)
    return mix


def _loss(labels: np.ndarray, proba: np.ndarray, weight: np.ndarray) -> float:
    """Of the rows that have labels."""
    return -float(np.average(np.log(proba[np.arange(len(labels)), labels]), weights=weight))


def _folds(labels: np.ndarray, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer members than folds
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        return list(folds.split(labels, labels))


def _out_of_fold(
    model: Any,
    x: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray | None,
    shares: np.ndarray,
    folds: list[tuple[np.ndarray, np.ndarray]],
) -> np.ndarray:
    """Rows with labels by the model that was fitted without them, others by all in equal parts."""
    proba = np.zeros((len(x), len(shares)))
    others = np.arange(len(labels), len(x))
    for train, rest in folds:
        seen = ~np.isnan(x[train]).all(0)  # trees cannot bin a column without a value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a linear model that has not quite converged will do
            given = None if weight is None else weight[train]
            model.fit(x[train][:, seen], labels[train], sample_weight=given)
        taught = np.concatenate([rest, others])
        known = np.zeros((len(taught), len(shares)))
        known[:, model.classes_] = model.predict_proba(x[taught][:, seen])
        known = (1.0 - FLOOR) * known + FLOOR * shares
        proba[rest] = known[: len(rest)]
        proba[others] += known[len(rest) :] / len(folds)
    return proba
