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
    layers = [*selector.hidden, selector.head]
    weights = [weight for layer in layers for weight in (layer.weight, layer.bias)]
    mask: Tensor = _Trajectories.apply(
        x, available, columns, lengths, temperature, generator, *weights
    )
    return mask


class _Trajectories(torch.autograd.Function):
    """All purchases of a batch, and the way back through them in one go.

    What one step adds to the gradient of the selector's weights is one more group of rows in a
    product over all steps, so that there is one product per layer and not one per step. At the
    first step nothing is known of any row: one row stands for all.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        available: Tensor,
        columns: ColumnMap,
        lengths: Tensor,
        temperature: float,
        generator: torch.Generator,
        *weights: Tensor,
    ) -> Tensor:
        steps = torch.arange(int(lengths[0]), device=lengths.device)
        ctx.active = (lengths > steps.unsqueeze(1)).sum(1).tolist()
        enough = bool((available.sum(1) >= lengths.to(x)).all())
        mask = x.new_zeros(len(x), columns.n_features)
        inputs: list[list[Tensor]] = []  # of each layer, step by step
        softs = []
        for n in ctx.active:
            known = mask[:n]
            bits = known if inputs else known[:1]
            values = [torch.cat([x[: len(bits)] * columns.expand(bits), bits], -1)]
            for weight, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
                values.append(torch.addmm(bias, values[-1], weight.T).relu_())
            scores = torch.addmm(weights[-1], values[-1], weights[-2].T)
            gumbel = gumbel_noise(known.shape, generator, dtype=x.dtype).to(x.device)
            closed = available[:n] * (1.0 - known) < 0.5
            logits = gumbel.add_(scores).masked_fill_(closed, NEVER)
            best = logits.argmax(1, keepdim=True)
            soft = torch.softmax(logits.div_(temperature), -1)
            bought = x.new_ones(n, 1)
            if not enough:  # a row whose remaining cells are all missing stands still
                bought = (~closed.all(1, keepdim=True)).to(x)
                soft.mul_(bought)
            known.scatter_add_(1, best, bought)
            inputs.append(values)
            softs.append(soft)
        ctx.columns, ctx.temperature = columns, temperature
        ctx.save_for_backward(x, *weights, *softs, *(v for values in inputs for v in values))
        return mask

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        n_steps, n_weights = len(ctx.active), len(ctx.needs_input_grad) - 6
        x, *saved = ctx.saved_tensors
        weights, saved = saved[:n_weights], saved[n_weights:]
        softs, saved = saved[:n_steps], saved[n_steps:]
        n_layers = n_weights // 2
        inputs = [saved[i : i + n_layers] for i in range(0, len(saved), n_layers)]
        grad = grads[0].clone()  # of the mask after each step, from the last to the first
        outputs: list[list[Tensor]] = [[] for _ in range(n_layers)]
        for n, soft, values in zip(*map(reversed, (ctx.active, softs, inputs)), strict=True):
            delta = grad[:n] * soft
            total = delta.sum(-1, keepdim=True)
            delta.addcmul_(soft, total, value=-1.0).div_(ctx.temperature)
            if len(values[0]) < n:
                delta = delta.sum(0, keepdim=True)
            for i in reversed(range(n_layers)):
                outputs[i].append(delta)
                delta = torch.mm(delta, weights[2 * i])
                if i:
                    delta = torch.ops.aten.threshold_backward(delta, values[i], 0.0)
            if len(delta) < n:
                break  # nothing was bought before
            through_x, through_mask = delta.split([x.shape[1], grad.shape[1]], 1)
            grad[:n].add_(through_mask).add_(ctx.columns.collapse(through_x * x[:n]))
        found: list[Tensor] = []
        for i in range(n_layers):
            delta = torch.cat(outputs[i])
            values = torch.cat([step[i] for step in reversed(inputs)])
            found += [torch.mm(delta.T, values), delta.sum(0)]
        return (None, None, None, None, None, None, *found)
