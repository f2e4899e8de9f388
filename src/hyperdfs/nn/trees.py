"""Boosted trees as plain arrays: saved without pickle, evaluated all at once."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from hyperdfs.nn.arrays import Arrays

CHUNK = 1_000_000  # pairs of a row and a tree at a time
ABSENT = -20.0  # score of a class that a model has never seen


class Tree(NamedTuple):
    """One tree whose leaves add to the score of one class; node 0 is the root.

    A row goes left where its value is at most the threshold, or where it is NaN and `missing_left`
    says so. A leaf has itself as both children.
    """

    feature: Tensor  # (nodes,) int64
    threshold: Tensor  # (nodes,) float64
    left: Tensor  # (nodes,) int64
    right: Tensor
    missing_left: Tensor  # (nodes,) bool
    value: Tensor  # (nodes,) float64
    gain: Tensor  # (nodes,) float64, what the split gained in training; 0 for a leaf
    depth: int
    target: int  # the class


class Booster(NamedTuple):
    """A sum of trees: log-probabilities up to a constant per row."""

    baseline: Tensor  # (C,) float64
    trees: list[Tree]

    def gains(self, n_columns: int) -> Tensor:
        """What the splits on each column have gained in training, ``(n_columns,)``."""
        total = torch.zeros(n_columns, dtype=torch.float64)
        for tree in self.trees:
            total.index_add_(0, tree.feature, tree.gain)
        return total


class Forest(Arrays):
    """Several boosters in one table of nodes.

    >>> forest = Forest()
    >>> forest.fill([Booster(torch.tensor([0.25, 0.75]).log().double(), [])])
    >>> forest.proba(torch.full((2, 3), torch.nan), 0)
    tensor([[0.2500, 0.7500],
            [0.2500, 0.7500]])
    """

    _NODES = ("feature", "threshold", "left", "right", "missing_left", "value")

    def __init__(self) -> None:
        super().__init__(*self._NODES, "root", "depth", "target", "first", "baseline")

    def fill(self, boosters: list[Booster]) -> None:
        """Take over the trees of fitted boosters, numbered from 0."""
        trees = [tree for booster in boosters for tree in booster.trees]
        sizes = torch.tensor([0, *(len(tree.value) for tree in trees)])
        root = sizes.cumsum(0)[:-1]
        for name in self._NODES:
            parts = [getattr(tree, name) for tree in trees]
            if name in ("left", "right"):
                parts = [part + start for part, start in zip(parts, root, strict=True)]
            self.set(name, torch.cat(parts) if parts else torch.empty(0))
        self.set("root", root)
        self.set("depth", torch.tensor([tree.depth for tree in trees], dtype=torch.long))
        self.set("target", torch.tensor([tree.target for tree in trees], dtype=torch.long))
        counts = torch.tensor([0, *(len(booster.trees) for booster in boosters)])
        self.set("first", counts.cumsum(0))
        self.set("baseline", torch.stack([booster.baseline for booster in boosters]))

    @torch.inference_mode()
    def proba(self, x: Tensor, number: int) -> Tensor:
        """Class probabilities by one booster, ``(n, D)`` with NaN where unknown -> ``(n, C)``."""
        first, last = self.get("first")[number : number + 2].tolist()
        baseline = self.get("baseline")[number]
        if first == last or not len(x):
            return torch.softmax(baseline, 0).to(x.dtype).repeat(len(x), 1)
        step = max(1, CHUNK // (last - first))
        scores = torch.cat([self._scores(part, first, last) for part in x.split(step)])
        return torch.softmax(scores + baseline, -1).to(x.dtype)

    def _scores(self, x: Tensor, first: int, last: int) -> Tensor:
        """Sums of the trees' leaves per class, ``(n, C)`` float64."""
        feature, threshold, left, right, missing_left, value = map(self.get, self._NODES)
        x = x.double()  # as scikit-learn compares
        node = self.get("root")[first:last].expand(len(x), -1)
        for _ in range(int(self.get("depth")[first:last].max())):
            known = x.gather(1, feature[node])
            go_left = torch.where(known.isnan(), missing_left[node], known <= threshold[node])
            node = torch.where(go_left, left[node], right[node])
        scores = x.new_zeros(len(x), self.get("baseline").shape[1])
        return scores.index_add_(1, self.get("target")[first:last], value[node])
