"""A few learned inputs per feature in place of its many encoded columns."""

from __future__ import annotations

import math
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
        weight = torch.zeros(members, *own.shape)
        first_column = (torch.cumsum(sizes, 0) - sizes).tolist()
        first_input = torch.searchsorted(target, torch.arange(len(sizes))).tolist()
        for size, column, start in zip(sizes.tolist(), first_column, first_input, strict=True):
            weight[:, column, start] = 1.0
            if size > 1:
                block = cosine_waves(size - 1, min(dim, size) - 1)
                weight[:, column + 1 : column + size, start + 1 : start + min(dim, size)] = block
        self.weight = nn.Parameter(weight)
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


def cosine_waves(n_columns: int, n_waves: int) -> Tensor:
    """Weights that turn quantile columns into ``cos(pi k u)``, k = 1..n_waves, u the quantile.

    Column c climbs from 0 to 1 over the c-th bin (and is then scaled to variance 1), so its
    weight is the change of the wave over that bin. Orthogonal waves, slow ones first, are a
    basis of smooth functions; random sums of columns would all look alike. ``(n_columns, n_waves)``

    """
    edge = torch.linspace(0.0, 1.0, n_columns + 1, dtype=torch.float64).unsqueeze(1)
    wave = math.sqrt(2.0) * torch.cos(math.pi * edge * torch.arange(1, n_waves + 1))
    middle = (edge[1:] + edge[:-1]) / 2.0
    return (wave.diff(dim=0) * (middle * (1.0 - middle)).sqrt()).float()
