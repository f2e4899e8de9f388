"""The two big steps of an ISAB over all n x M tokens, with backward passes written by hand.

Both are softmax attentions against few partners (the I inducing points), so what costs is passes
over memory and not arithmetic. Heads stay side by side: keys and values are laid out block by
block, ``(heads I, dim)``, which turns all heads into one product and spares every transposed copy.
The softmax is a quotient of two products with ``P = exp(score)``, ``P V`` over ``P 1``.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

SAFE = 40.0  # scores of this size can be exponentiated as they are; sums stay far from overflow


def by_head(x: Tensor, heads: int) -> Tensor:
    """``(N, I, dim) -> (N, heads I, dim)``: each head in rows of its own, else 0."""
    n, points, dim = x.shape
    blocks = x.new_zeros(n, heads, points, heads, dim // heads)
    blocks.diagonal(dim1=1, dim2=3).copy_(x.unflatten(-1, (heads, -1)).permute(0, 1, 3, 2))
    return blocks.view(n, heads * points, dim)


def from_heads(blocks: Tensor, heads: int) -> Tensor:
    """The inverse of `by_head`, and its backward."""
    n, _, dim = blocks.shape
    own = blocks.view(n, heads, -1, heads, dim // heads).diagonal(dim1=1, dim2=3)
    return own.permute(0, 1, 3, 2).reshape(n, -1, dim)


@lru_cache(maxsize=8)
def _ones(heads: int, points: int, dim: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """``(heads I, dim)``: a product with it sums over a head's points, for each dim of the head."""
    with torch.inference_mode(False):
        eye = torch.eye(heads, dtype=dtype, device=device)
        return eye.repeat_interleave(points, 0).repeat_interleave(dim // heads, 1)


def _safe(sums: Tensor) -> bool:
    """Whether sums of exponentials, each over a few scores, are exact and far from overflow."""
    low, high = torch.aminmax(sums)
    return bool(low > math.exp(-SAFE)) and bool(high < math.exp(SAFE))


def _norm(x: Tensor, gain: Tensor, shift: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Layer norm per member of ``(E, rows, dim)``, and its statistics."""
    parts = [
        torch.native_layer_norm(part, part.shape[-1:], g, b, 1e-5)
        for part, g, b in zip(x, gain, shift, strict=True)
    ]
    if len(parts) == 1:
        y, mean, scale = parts[0]
        return y.unsqueeze(0), mean.unsqueeze(0), scale.unsqueeze(0)
    y, mean, scale = (torch.stack(columns) for columns in zip(*parts, strict=True))
    return y, mean, scale


def _norm_backward(
    grad: Tensor, x: Tensor, mean: Tensor, scale: Tensor, gain: Tensor, shift: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    backward = torch.ops.aten.native_layer_norm_backward
    parts = [
        backward(grad[e], x[e], x.shape[-1:], mean[e], scale[e], gain[e], shift[e], [True] * 3)
        for e in range(len(x))
    ]
    if len(parts) == 1:
        first, second, third = parts[0]
        return first.unsqueeze(0), second.unsqueeze(0), third.unsqueeze(0)
    first, second, third = (torch.stack(columns) for columns in zip(*parts, strict=True))
    return first, second, third


class Spread(torch.autograd.Function):
    """Tokens look at the induced points: ``u = Q + (P V) / (P 1)`` with ``P = exp(Q K)``, then
    ``o = LN(u)``, ``y = LN(o + ReLU(o W + b))``.

    **Shape**: queries and y ``(E, n, M, dim)``, keys (already scaled) and values ``(E n, I, dim)``
    """

    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        weight: Tensor,
        bias: Tensor,
        gain1: Tensor,
        shift1: Tensor,
        gain2: Tensor,
        shift2: Tensor,
        heads: int,
    ) -> Tensor:
        members, n, m, dim = queries.shape
        ones = _ones(heads, keys.shape[1], dim, keys.dtype, keys.device)
        keys, values = by_head(keys, heads), by_head(values, heads)
        q = queries.reshape(members * n, m, dim)
        p = torch.bmm(q, keys.mT).exp_()
        divisor = torch.mm(p.view(-1, len(ones)), ones).view_as(q)  # of each dim's head
        if not _safe(divisor):
            scores = torch.bmm(q, keys.mT).unflatten(-1, (heads, -1))
            p = torch.softmax(scores, -1).flatten(-2)
            divisor = torch.ones_like(q)
        u = torch.bmm(p, values)
        torch.addcdiv(q, u, divisor, out=u)
        u = u.view(members, n * m, dim)
        o, mean1, scale1 = _norm(u, gain1, shift1)
        feed = torch.baddbmm(bias, o, weight).relu_()
        v = o + feed  # not kept
        y, mean2, scale2 = _norm(v, gain2, shift2)
        ctx.save_for_backward(
            *(q, keys, values, weight, bias, gain1, shift1, gain2, shift2),
            *(p, divisor, u, o, feed, mean1, scale1, mean2, scale2),
        )
        ctx.heads = heads
        return y.view(members, n, m, dim)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        q, keys, values, weight, _, gain1, shift1, gain2, shift2, *more = ctx.saved_tensors
        p, divisor, u, o, feed, mean1, scale1, mean2, scale2 = more
        members, n, m, dim = grads[0].shape
        heads, hi = ctx.heads, p.shape[2]
        ones = _ones(heads, hi // heads, dim, p.dtype, p.device)
        grad = grads[0].reshape(members, n * m, dim)
        v = o + feed
        grad, grad_gain2, grad_shift2 = _norm_backward(grad, v, mean2, scale2, gain2, shift2)
        grad_feed = torch.ops.aten.threshold_backward(grad, feed, 0.0)
        grad_weight = torch.bmm(o.mT, grad_feed)
        grad_bias = grad_feed.sum(1, keepdim=True)
        grad.baddbmm_(grad_feed, weight.mT)
        grad, grad_gain1, grad_shift1 = _norm_backward(grad, u, mean1, scale1, gain1, shift1)
        grad = grad.view_as(q)
        # A = N / D: dN = dA / D and dD = -(dA . A) / D, per head.
        d_top = grad / divisor
        share = torch.sub(q, u.view_as(q)).mul_(d_top)
        grad_values = from_heads(torch.bmm(p.mT, d_top), heads)
        d_scores = torch.mm(share.view(-1, dim), ones.mT).view_as(p)
        d_scores = d_scores.baddbmm_(d_top, values.mT).mul_(p)
        grad_keys = from_heads(torch.bmm(d_scores.mT, q), heads)
        grad.baddbmm_(d_scores, keys)
        return (
            *(grad.view(members, n, m, dim), grad_keys, grad_values, grad_weight, grad_bias),
            *(grad_gain1, grad_shift1, grad_gain2, grad_shift2, None),
        )


class Gather(torch.autograd.Function):
    """The inducing points look at the tokens: ``(P' X) / (P' 1)`` with ``P = exp(X W)``.

    A bias per inducing point would cancel in the quotient. The projection of the keys is absorbed
    in W, that of the values follows the mixing, so that no token is projected.

    **Shape**: tokens ``(E, n, M, dim)``, weight ``(E, dim, heads I)`` ->
    ``(E, n, heads I, dim)``
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        members, n, m, dim = x.shape
        flat = x.reshape(members, n * m, dim)
        p = torch.bmm(flat, weight).view(members * n, m, -1).exp_()
        total = p.sum(1)
        if not _safe(total):
            p = torch.bmm(flat, weight).view_as(p)
            p.sub_(p.amax(1, keepdim=True)).exp_()
            total = p.sum(1)
        total = total.unsqueeze(-1)
        mixed = torch.bmm(p.mT, flat.view(members * n, m, dim)).div_(total)
        ctx.save_for_backward(x, weight, p, total, mixed)
        return mixed.view(members, n, -1, dim)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, Tensor]:
        x, weight, p, total, mixed = ctx.saved_tensors
        members, n, m, dim = x.shape
        tokens = x.reshape(members * n, m, dim)
        d_mixed = grads[0].reshape_as(mixed) / total
        d_total = (d_mixed * mixed).sum(-1).neg_().unsqueeze(1)
        d_scores = torch.baddbmm(d_total, tokens, d_mixed.mT).mul_(p)
        grad_x = torch.bmm(p, d_mixed).view(members, n * m, dim)
        d_scores = d_scores.view(members, n * m, -1)
        grad_x.baddbmm_(d_scores, weight.mT)
        grad_weight = torch.bmm(tokens.view_as(grad_x).mT, d_scores)
        return grad_x.view_as(x), grad_weight
