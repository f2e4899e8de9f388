"""A predictor made of a subset network."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.hyper import SubsetNet
from hyperdfs.training.row_logits import row_logits


class NetworkPredictor:
    """Mean softmax over the members of a `SubsetNet`."""

    def __init__(self, net: SubsetNet) -> None:
        self.net = net

    @torch.inference_mode()
    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, C)``."""
        return torch.softmax(row_logits(self.net, x, mask), -1).mean(0)
