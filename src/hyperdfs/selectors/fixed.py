"""Selectors that do not look at the case: a random order per case, one order for all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


class RandomSelector:
    """An independent uniform order for each row; the control for every learned selector."""

    def __init__(self, seed: int = 0) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        return torch.rand(mask.shape, generator=self._generator).to(mask.device)


class StaticSelector:
    """The same order for every case.

    order : feature indices, first bought first.
    """

    def __init__(self, order: Sequence[int]) -> None:
        rank = torch.empty(len(order))
        rank[torch.as_tensor(order, dtype=torch.long)] = torch.arange(len(order), 0, -1).float()
        self._scores = rank

    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        return self._scores.to(mask.device).expand_as(mask)
