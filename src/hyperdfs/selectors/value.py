"""A selector that buys what is worth most for its price."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.mlp import evaluating, in_parts
from hyperdfs.nn.value import ValueNet


class ValueSelector:
    """Expected gain of information per unit of cost, from a `ValueNet`."""

    def __init__(self, net: ValueNet) -> None:
        self.net = net

    @torch.inference_mode()
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, M)``; the highest is next."""
        with evaluating(self.net):
            values = in_parts(lambda known, bits: self.net.outlook(known, bits)[1], x, mask)
        return values / self.net.price
