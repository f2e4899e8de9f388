"""Trajectories of purchases that a gradient can flow back through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from hyperdfs.acquisition import NEVER
from hyperdfs.masks import ColumnMap
from hyperdfs.nn.scoring import ScoreNet


def gumbel_noise(
    shape: Sequence[int], generator: torch.Generator, *, dtype: torch.dtype = torch.float32
) -> Tensor:
    """``-log(Exp(1))``, drawn on the CPU so that every device sees the same purchases."""
    waiting = torch.empty(tuple(shape), dtype=dtype).exponential_(generator=generator)
    return waiting.clamp_(1e-30).log_().neg_()


class _StraightThrough(torch.autograd.Function):
    """``a = onehot(argmax p) - sg(p) + p`` with ``p = softmax((score + G) / T)`` where not closed.

    The value is exactly one-hot, so that unbought inputs are exactly 0; the gradient is p's.
    """

    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, gumbel: Tensor, closed: Tensor, temperature: float
    ) -> Tensor:
        logits = (scores + gumbel).masked_fill_(closed, NEVER)
        best = logits.argmax(1, keepdim=True)
        soft = torch.softmax(logits.div_(temperature), -1)
        ctx.save_for_backward(soft)
        ctx.temperature = temperature
        return torch.zeros_like(soft).scatter_(1, best, 1.0)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, None, None, None]:
        (soft,) = ctx.saved_tensors
        weighted = grads[0] * soft
        total = weighted.sum(-1, keepdim=True)
        weighted.addcmul_(soft, total, value=-1.0).div_(ctx.temperature)
        return weighted, None, None, None


def straight_through(
    scores: Tensor, closed: Tensor, *, temperature: float, gumbel: Tensor | None = None
) -> Tensor:
    """One purchase per row, ``(n, M)`` one-hot with the gradient of ``softmax(score / T)``.

    closed : (n, M) bool, what cannot be bought; a row where nothing can stands still.
    """
    gumbel = torch.zeros_like(scores) if gumbel is None else gumbel
    bought: Tensor = _StraightThrough.apply(scores, gumbel, closed, temperature)
    return bought * ~closed.all(1, keepdim=True)


def gumbel_purchases(
    selector: ScoreNet,
    x: Tensor,
    available: Tensor,
    columns: ColumnMap,
    lengths: Tensor,
    *,
    temperature: float,
    generator: torch.Generator,
) -> Tensor:
    """The mask of each row after `lengths` purchases (sorted, longest first), with a gradient.

    Straight-through Gumbel draws, ``p = softmax((score + G) / T)``. Finished rows leave the batch,
    so only what still buys is computed.
    """
    mask = x.new_zeros(len(x), columns.n_features)
    finished: list[Tensor] = []
    enough = bool((available.sum(1) >= lengths.to(x)).all())
    for step in range(int(lengths[0])):
        active = int((lengths > step).sum())
        if active < len(mask):
            finished.append(mask[active:])
            mask, x, available = mask[:active], x[:active], available[:active]
        scores = selector(x * columns.expand(mask), mask)
        closed = available * (1.0 - mask.detach()) < 0.5
        gumbel = gumbel_noise(scores.shape, generator, dtype=x.dtype).to(x.device)
        bought: Tensor = _StraightThrough.apply(scores, gumbel, closed, temperature)
        if not enough:  # a row whose remaining cells are all missing stands still
            bought = bought * ~closed.all(1, keepdim=True)
        mask = mask + bought
    return torch.cat([mask, *reversed(finished)])
