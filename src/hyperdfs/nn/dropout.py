"""Dropout that draws a random byte where torch draws a random float."""

from __future__ import annotations

import torch
from torch import Tensor, nn

BYTE = 256


class Dropout(nn.Module):
    """Sets each entry to zero with probability p and scales the others so that the mean stays.

    p is rounded to 1/256. `nn.Dropout` draws a float for every entry, which on a processor core is
    the dearest part of a small network.

    >>> Dropout(0.25).eval()(torch.ones(3))
    tensor([1., 1., 1.])
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.dropped = min(round(BYTE * p), BYTE - 1)  # of the 256 bytes

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self.dropped:
            return x
        scale = BYTE / (BYTE - self.dropped)
        return x * (_random_bytes(x) >= self.dropped).to(x.dtype).mul_(scale)

    def extra_repr(self) -> str:
        return f"p={self.dropped}/{BYTE}"


def _random_bytes(like: Tensor) -> Tensor:
    """Uniform bytes in the shape of `like`, from torch's global generator."""
    words = torch.empty((like.numel() + 7) // 8, dtype=torch.int64, device=like.device)
    words.random_(-(2**63), None)
    return words.view(torch.uint8)[: like.numel()].view(like.shape)
