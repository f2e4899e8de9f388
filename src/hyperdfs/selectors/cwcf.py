"""The selector of CWCF: the Q-values of buying each feature."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.dueling import DuelingNet

CHUNK = 4096  # rows at a time


class FeatureActions:
    """``Q(x_S, buy j)``: what is won in the end if j is bought now."""

    def __init__(self, net: DuelingNet) -> None:
        self.net = net

    @torch.inference_mode()
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, M)``; the highest is next."""
        pairs = zip(x.split(CHUNK), mask.split(CHUNK), strict=True)
        return torch.cat([self.net(known, bits)[:, self.net.n_classes :] for known, bits in pairs])
