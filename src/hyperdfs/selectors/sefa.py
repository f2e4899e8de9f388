"""The selector of SEFA: what the prediction's gradient in latent space points to."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.mlp import evaluating
from hyperdfs.nn.sefa import SefaNet, latent_draws

LEAST = 1e-12  # a relevance below counts as this
CHEAPEST = 1e-3  # in units of the mean cost; what is free counts as this


class SefaSelector:
    """Log of relevance per cost.

    costs : `Arrays` with "relative", each feature's cost over the mean; empty when not fitted.
    """

    def __init__(self, net: SefaNet, costs: Arrays, n_draws: int) -> None:
        self.net, self.costs, self.n_draws = net, costs, n_draws

    @torch.inference_mode()
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, M)``; the highest is next."""
        with evaluating(self.net):
            draws = latent_draws(self.net, x, mask, self.n_draws)
            relevance = torch.cat([self.net.relevance(z) for z in draws])
        costs = self.costs.get("relative").clamp_min(CHEAPEST)
        return relevance.clamp_min(LEAST).log() - costs.log()
