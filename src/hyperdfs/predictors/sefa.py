"""The predictor of SEFA: the mean over draws of the features' latents."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.mlp import evaluating
from hyperdfs.nn.sefa import SefaNet, latent_draws


class SefaPredictor:
    """Mean softmax over `n_draws` draws, the same for all rows."""

    def __init__(self, net: SefaNet, n_draws: int) -> None:
        self.net, self.n_draws = net, n_draws

    @torch.inference_mode()
    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, C)``."""
        with evaluating(self.net):
            draws = latent_draws(self.net, x, mask, self.n_draws)
            return torch.cat([self.net.log_proba(z).exp() for z in draws])
