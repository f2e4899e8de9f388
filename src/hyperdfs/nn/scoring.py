"""The selector's network: what is known -> one score per feature."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn


class ScoreNet(nn.Module):
    """MLP on ``[x̃ ; mask]``: ``(n, D), (n, M) -> (n, M)`` scores, higher is bought sooner."""

    def __init__(self, *, n_columns: int, n_features: int, hidden: Sequence[int] = (128, 128)):
        super().__init__()
        widths = (n_columns + n_features, *hidden)
        self.hidden = nn.ModuleList(nn.Linear(n_in, n_out) for n_in, n_out in pairwise(widths))
        self.head = nn.Linear(widths[-1], n_features)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = torch.cat([x, mask], -1)
        for layer in self.hidden:
            x = torch.relu(layer(x))
        scores: Tensor = self.head(x)
        return scores
