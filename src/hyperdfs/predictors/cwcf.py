"""The predictor of CWCF: what the Q-network expects of naming each class."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.dueling import DuelingNet
from hyperdfs.nn.mlp import in_parts

SHARPNESS, SHARE = 0.1, 1e-3  # of the softmax that decides where all estimates are 0


class ClassActions:
    """``p(c) = 1 + Q(c)``, for the reward of naming c is -1 where it is wrong; cut at 0, sum 1.

    The class action with the highest Q is always the most probable class: a thousandth of a softmax
    keeps the order of what was cut.
    """

    def __init__(self, net: DuelingNet) -> None:
        self.net = net

    @torch.inference_mode()
    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, C)``."""
        q = in_parts(self.net, x, mask)[:, : self.net.n_classes]
        p = (1.0 + q).clamp(0.0, 1.0) + SHARE * torch.softmax(q / SHARPNESS, -1)
        return p / p.sum(-1, keepdim=True)
