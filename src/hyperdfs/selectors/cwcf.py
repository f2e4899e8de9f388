"""The selector of CWCF: the Q-values of buying each feature."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.dueling import DuelingNet
from hyperdfs.nn.mlp import in_parts


class FeatureActions:
    """``Q(x_S, buy j)``: what is won in the end if j is bought now."""

    def __init__(self, net: DuelingNet) -> None:
        self.net = net

    @torch.inference_mode()
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, M)``; the highest is next."""
        return in_parts(self.net, x, mask)[:, self.net.n_classes :]
