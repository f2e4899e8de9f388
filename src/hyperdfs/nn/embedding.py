"""A few learned inputs per feature in place of its many encoded columns."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from hyperdfs.nn.members import Remembered


class GroupEmbedding(nn.Module):
    """Linear map of each feature's columns to at most `dim` inputs, shared by all masks.

    Quantile columns let the classifier bend a number at will, but a primary network that takes
    them all in has twenty times the weights to generate. Here each feature learns `dim` functions
    of its value. There is no bias: unknown columns are 0 and stay so. The first input starts as
    the feature's first column (a number's z-score).

    **Shape**: ``(E or 1, n, D) -> (E, n, D')``
    """

    own: Tensor

    def __init__(self, members: int, column_group: Sequence[int], dim: int) -> None:
        super().__init__()
        group = torch.as_tensor(column_group)
        sizes = torch.bincount(group)
        target = torch.cat([torch.full((min(dim, int(s)),), g) for g, s in enumerate(sizes)])
        own = group.unsqueeze(1) == target  # (D, D'): which inputs a column feeds
        weight = torch.randn(members, *own.shape) / sizes[group].sqrt().unsqueeze(1)
        first_column = torch.cumsum(sizes, 0) - sizes
        first_input = torch.searchsorted(target, torch.arange(len(sizes)))
        weight[:, :, first_input] = 0.0
        weight[:, first_column, first_input] = 1.0
        self.weight = nn.Parameter(weight * own)
        self.register_buffer("own", own.float(), persistent=False)
        self.n_out = len(target)
        self._masked = Remembered()

    def affine(self) -> list[tuple[Tensor, Tensor]]:
        """The map as one layer: weight ``(E, D, D')`` and a bias of 0, ``(E, 1, D')``."""
        weight = self.weight * self.own
        return [(weight, torch.zeros_like(weight[:, :1]))]

    def forward(self, x: Tensor) -> Tensor:
        weight = self._masked.get([self.weight], lambda: self.weight * self.own)
        return torch.matmul(x, weight)
