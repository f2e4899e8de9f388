"""A selector that buys what is worth most for its price."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.mlp import evaluating
from hyperdfs.nn.value import ValueNet

CHUNK = 4096  # rows at a time


class ValueSelector:
    """Expected gain of information per unit of cost, from a `ValueNet`."""

    def __init__(self, net: ValueNet) -> None:
        self.net = net

    @torch.inference_mode()
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, M)``; the highest is next."""
        with evaluating(self.net):
            pairs = zip(x.split(CHUNK), mask.split(CHUNK), strict=True)
            values = [self.net.outlook(known, bits)[1] for known, bits in pairs]
        return torch.cat(values) / self.net.price
