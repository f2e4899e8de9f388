"""A selector that buys what a network expects to gain most, among the features it knows."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.selectors.mlp import MLPSelector
from hyperdfs.training.prices import per_cost

LATER = 1e6


class PricedSelector:
    """Expected gain of each feature by a `MaskedNet`, per cost.

    `fitted` is an `Arrays` with "cost" ``(M,)``, relative to the mean, and "rank" ``(M,)``: 0 for
    the features whose gain the network knows; the others come after all of these, by their rank.
    """

    def __init__(self, net: MaskedNet, fitted: Arrays) -> None:
        self._gains, self._fitted = MLPSelector(net), fitted

    @torch.inference_mode()
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, M)``; the highest is next."""
        priced = per_cost(self._gains.scores(x, mask), self._fitted.get("cost"))
        rank = self._fitted.get("rank")
        return torch.where(rank > 0, -LATER - rank, priced)
