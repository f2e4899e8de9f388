"""A predictor made of plain networks on the masked input."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hyperdfs.nn.mlp import evaluating

CHUNK = 4096  # rows at a time


class MLPPredictor:
    """Softmax of a network ``(x̃, mask) -> logits``, such as `MaskedNet`; of several, the mean."""

    def __init__(self, *nets: nn.Module) -> None:
        self.nets = nets

    @torch.inference_mode()
    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, C)``."""
        parts = []
        for known, bits in zip(x.split(CHUNK), mask.split(CHUNK), strict=True):
            opinions = []
            for net in self.nets:
                with evaluating(net):
                    opinions.append(torch.softmax(net(known, bits), -1))
            parts.append(torch.stack(opinions).mean(0))
        return torch.cat(parts)
