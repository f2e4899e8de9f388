"""A selector made of a plain network on the masked input."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.mlp import MaskedNet, evaluating, in_parts


class MLPSelector:
    """Scores of a `MaskedNet` with one output per feature."""

    def __init__(self, net: MaskedNet) -> None:
        self.net = net

    @torch.inference_mode()
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, M)``; the highest is next."""
        with evaluating(self.net):
            return in_parts(self.net, x, mask)
