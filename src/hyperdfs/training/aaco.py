"""What AACO keeps of the training rows, and the plans that it considers."""

from __future__ import annotations

from itertools import chain, combinations
from math import comb

import torch
from torch import Tensor

from hyperdfs.nn.arrays import Arrays
from hyperdfs.training.data import Rows

MOST_ROWS = 20_000
NAMES = ("x", "available", "target", "weight", "scale", "plans", "horizon", "price")


def keep_rows(fitted: Arrays, rows: Rows, groups: Tensor, generator: torch.Generator) -> None:
    """Store at most `MOST_ROWS` random rows, in random order, and the scale of distances."""
    kept = rows.take(torch.randperm(len(rows), generator=generator)[:MOST_ROWS].to(rows.x.device))
    available = kept.available()
    fitted.set("x", kept.x)
    fitted.set("available", available)
    fitted.set("target", kept.target)
    fitted.set("weight", kept.weight)
    groups = groups.to(kept.x.device)
    present = available.sum(0).clamp_min(1.0)
    variance = torch.zeros(available.shape[1], device=kept.x.device)
    variance.index_add_(0, groups, kept.x.square().sum(0))  # columns have mean 0
    fitted.set("scale", (variance / present).clamp_min(1e-12).rsqrt()[groups])


def draw_plans(n_features: int, horizon: int, count: int, generator: torch.Generator) -> Tensor:
    """`count` sets of 2 to `horizon` features ``(P, horizon)``, or all where there are no more.

    All sizes are equally likely. Short ones are filled up with -1.

    >>> draw_plans(3, 2, 10, torch.Generator())
    tensor([[0, 1],
            [0, 2],
            [1, 2]])
    """
    sizes = range(2, min(horizon, n_features) + 1)
    if not sizes:
        return torch.zeros(0, 1, dtype=torch.long)
    if sum(comb(n_features, size) for size in sizes) <= count:
        members = chain.from_iterable(combinations(range(n_features), size) for size in sizes)
        return torch.tensor([(*plan, *[-1] * (sizes[-1] - len(plan))) for plan in members])
    order = torch.rand(count, n_features, generator=generator).argsort(1)[:, : sizes[-1]]
    size = torch.randint(2, sizes[-1] + 1, (count, 1), generator=generator)
    return order.masked_fill(torch.arange(sizes[-1]) >= size, -1)
