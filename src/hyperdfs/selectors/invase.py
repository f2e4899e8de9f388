"""The selector of the original INVASE, which sees the whole row before it chooses."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.mlp import MLP, evaluating, in_parts


class WholeRowSelector:
    """Features by their π of the complete row: a reference, no competitor.

    What is already bought changes nothing, so that the subset of budget b is the top b of π.
    """

    peeks = True

    def __init__(self, actor: MLP) -> None:
        self.actor = actor

    @torch.inference_mode()
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        """The whole rows ``(n, D)``, ``(n, M)`` -> ``(n, M)``."""
        with evaluating(self.actor):
            return in_parts(self.actor, x)
