"""Selectors that do not look at the case: a random order per case, one order for all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


class RandomSelector:
    """An independent uniform order for each row; the control for every learned selector.

    The same seed gives the i-th row of a batch the same order in every run.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        generator = torch.Generator().manual_seed(self._seed)
        return torch.rand(mask.shape, generator=generator).to(mask.device)


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
