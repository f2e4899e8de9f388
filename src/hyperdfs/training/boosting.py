"""Histogram-boosted trees: fitted by scikit-learn, kept as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from torch import Tensor

from hyperdfs.masks import MaskSampler
from hyperdfs.nn.trees import ABSENT, Booster, Tree
from hyperdfs.training.data import Rows
from hyperdfs.training.masked import observe

MANY_COLUMNS = 60  # beyond, coarser bins save most of the time
WEIGHTED_BINS = 64
SMALLEST_SHARE = 1e-3  # of a soft target; smaller ones are left out
LEAST = 1e-4  # probability that a left-out row of a class unseen in its fold is granted


@dataclass(frozen=True)
class Table:
    """Rows for trees: x (n, D) with NaN where unknown, labels (n,) and weights (n,)."""

    x: np.ndarray
    labels: np.ndarray
    weight: np.ndarray

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: np.ndarray) -> Table:
        return Table(self.x[rows], self.labels[rows], self.weight[rows])

    def columns(self, columns: np.ndarray) -> Table:
        return replace(self, x=self.x[:, columns])


@dataclass(frozen=True)
class Growth:
    """How trees grow. Small tables get small trees."""

    rounds: int = 150
    rate: float = 0.08
    leaves: int = 15
    smallest_leaf: int = 20
    bins: int = 255
    ridge: float = 1.0

    @classmethod
    def for_rows(cls, n: int, n_columns: int) -> Growth:
        return cls(
            rate=0.1 if n > 3000 else 0.05,
            leaves=31 if n > 5000 else 8 if n < 1000 else 15,
            smallest_leaf=int(np.clip(n // 50, 5, 20)),
            bins=bins_for(n_columns),
        )


def bins_for(n_columns: int) -> int:
    return 255 if n_columns <= MANY_COLUMNS else 64


def grow(table: Table, growth: Growth, seed: int) -> HistGradientBoostingClassifier:
    """A fitted model of scikit-learn."""
    # A column without any value cannot be binned; as a constant it is never asked about.
    x = np.where(np.isnan(table.x).all(0), 0.0, table.x)
    # Weights make scikit-learn's search for bins slow, a quantile at a time.
    equal = np.ptp(table.weight) == 0
    return HistGradientBoostingClassifier(
        learning_rate=growth.rate,
        max_iter=growth.rounds,
        max_leaf_nodes=growth.leaves,
        min_samples_leaf=growth.smallest_leaf,
        max_bins=growth.bins if equal else min(growth.bins, WEIGHTED_BINS),
        l2_regularization=growth.ridge,
        early_stopping=False,
        random_state=seed,
    ).fit(x, table.labels, None if equal else table.weight)


def shares(table: Table, n_classes: int) -> Booster:
    """No trees: the shares of the classes, smoothed by one row."""
    counts = np.bincount(table.labels, weights=table.weight, minlength=n_classes)
    return Booster(torch.from_numpy(np.log((counts + 1.0 / n_classes) / (counts.sum() + 1.0))), [])


def booster_of(
    model: HistGradientBoostingClassifier, columns: np.ndarray, n_classes: int
) -> Booster:
    """A fitted model as arrays; `columns` says which encoded column each of its inputs is.

    A model of two classes has one tree a round, for the second class against a score of 0.
    """
    classes = model.classes_
    targets = classes if len(classes) > 2 else classes[1:]
    baseline = torch.full((n_classes,), ABSENT, dtype=torch.float64)
    baseline[torch.from_numpy(classes)] = 0.0
    baseline[torch.from_numpy(targets)] = torch.from_numpy(model._baseline_prediction[0].copy())
    trees = [
        _tree(predictor.nodes, columns, int(target))
        for stage in model._predictors
        for predictor, target in zip(stage, targets, strict=True)
    ]
    return Booster(baseline, trees)


def _tree(nodes: np.ndarray, columns: np.ndarray, target: int) -> Tree:
    leaf, here = nodes["is_leaf"].astype(bool), np.arange(len(nodes))
    return Tree(
        feature=torch.from_numpy(columns[nodes["feature_idx"]].astype(np.int64)),
        threshold=torch.from_numpy(nodes["num_threshold"].copy()),
        left=torch.from_numpy(np.where(leaf, here, nodes["left"]).astype(np.int64)),
        right=torch.from_numpy(np.where(leaf, here, nodes["right"]).astype(np.int64)),
        missing_left=torch.from_numpy(nodes["missing_go_to_left"].astype(bool)),
        value=torch.from_numpy(nodes["value"].copy()),
        gain=torch.from_numpy(np.where(leaf, 0.0, nodes["gain"])),
        depth=int(nodes["depth"].max()),
        target=target,
    )


def to_table(rows: Rows, masks: Tensor | None = None, sampler: MaskSampler | None = None) -> Table:
    """Rows for trees, as they look when all or `masks` is known, without those that weigh nothing.

    A row whose target is not one class counts as one row for each of its classes.
    """
    known = observe(rows, rows.available() if masks is None else masks, sampler)
    hidden = rows.columns.expand(known.mask) < 0.5
    x = known.x.masked_fill(hidden, torch.nan).cpu().numpy()
    share, weight = rows.target.cpu().double().numpy(), known.weight.cpu().double().numpy()
    row, labels = np.nonzero((share > SMALLEST_SHARE) & (weight > 0)[:, None])
    return Table(x[row], labels, share[row, labels] * weight[row])


class Trial(NamedTuple):
    """What trees fitted on some rows are worth on others."""

    losses: np.ndarray  # (rounds,) mean log-loss on the rows left out after each round
    booster: Booster  # up to its best round


def try_out(
    fitted: Table, rest: Table, columns: np.ndarray, growth: Growth, n_classes: int, seed: int
) -> Trial:
    """Grow trees on `columns` of some rows and score every round on others."""
    if not len(rest):  # all of these rows may be withheld
        rest = fitted
    if not len(columns) or len(np.unique(fitted.labels)) < 2:
        booster = shares(fitted, n_classes)
        loss = -np.average(booster.baseline.numpy()[rest.labels], weights=rest.weight)
        return Trial(np.full(growth.rounds, loss), booster)
    model = grow(fitted.columns(columns), growth, seed)
    place = np.full(n_classes, -1)
    place[model.classes_] = np.arange(len(model.classes_))
    at, rows = place[rest.labels], np.arange(len(rest))
    losses = []
    for proba in model.staged_predict_proba(rest.x[:, columns]):
        own = np.where(at >= 0, proba[rows, at], 0.0)
        losses.append(-np.average(np.log(np.maximum(own, LEAST)), weights=rest.weight))
    booster = booster_of(model, columns, n_classes)
    per_round = len(booster.trees) // growth.rounds
    best = int(np.argmin(losses)) + 1
    return Trial(np.array(losses), booster._replace(trees=booster.trees[: best * per_round]))


def fit_booster(
    table: Table, columns: np.ndarray, growth: Growth, n_classes: int, seed: int
) -> Booster:
    """Trees on some columns, or the shares of the classes where there is nothing to learn."""
    if not len(columns) or len(np.unique(table.labels)) < 2:
        return shares(table, n_classes)
    return booster_of(grow(table.columns(columns), growth, seed), columns, n_classes)


def feature_gains(booster: Booster, column_group: np.ndarray) -> np.ndarray:
    """What the splits on all columns of each feature have gained in training, ``(M,)``."""
    gains = booster.gains(len(column_group)).numpy()
    return np.bincount(column_group, weights=gains)
