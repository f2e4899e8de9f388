"""The two big steps of an ISAB over all n x M tokens, with backward passes written by hand.

Both are softmax attentions against few partners (the I inducing points), so what costs is passes
over memory and not arithmetic. Heads stay side by side: keys and values are laid out block by
block, ``(dim, heads I)``, which turns all heads into one product and spares every transposed copy.
The softmax is a quotient of two products with ``P = exp(score)``, ``P V`` over ``P 1``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

SAFE = 40.0  # scores of this size can be exponentiated as they are; sums stay far from overflow


def by_head(x: Tensor, heads: int) -> Tensor:
    """``(N, I, dim) -> (N, dim, heads I)``: each head's part in rows of its own, else 0."""
    n, points, dim = x.shape
    blocks = x.new_zeros(n, heads, dim // heads, heads, points)
    blocks.diagonal(dim1=1, dim2=3).copy_(x.unflatten(-1, (heads, -1)).permute(0, 3, 1, 2))
    return blocks.view(n, dim, heads * points)


def from_heads(blocks: Tensor, heads: int) -> Tensor:
    """The inverse of `by_head`, and its backward."""
    n, dim, _ = blocks.shape
    own = blocks.view(n, heads, dim // heads, heads, -1).diagonal(dim1=1, dim2=3)
    return own.permute(0, 2, 3, 1).reshape(n, -1, dim)


def with_ones(values: Tensor, heads: int) -> Tensor:
    """``(N, I, dim) -> (N, heads I, dim + heads)``: values by head, and 1s that sum the weights."""
    ones = torch.eye(heads, dtype=values.dtype, device=values.device)
    ones = ones.repeat_interleave(values.shape[1], 0).expand(len(values), -1, -1)
    return torch.cat([by_head(values, heads).mT, ones], -1)


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
        keys, values = by_head(keys, heads), with_ones(values, heads)
        q = queries.reshape(members * n, m, dim)
        p = torch.bmm(q, keys)
        low, high = torch.aminmax(p)
        if low > -SAFE and high < SAFE:
            p.exp_()
        else:  # the quotient below then divides by 1
            p = torch.softmax(p.unflatten(-1, (heads, -1)), -1).flatten(-2)
        sums = torch.bmm(p, values)
        divisor = sums[..., dim:].unsqueeze(-1)
        u = torch.addcdiv(
            q.unflatten(-1, (heads, -1)), sums[..., :dim].unflatten(-1, (heads, -1)), divisor
        )
        u = u.view(members, n * m, dim)
        o, mean1, scale1 = _norm(u, gain1, shift1)
        v = torch.baddbmm(bias, o, weight).relu_()
        positive = v > 0
        v += o
        y, mean2, scale2 = _norm(v, gain2, shift2)
        ctx.save_for_backward(
            *(q, keys, values, weight, bias, gain1, shift1, gain2, shift2),
            *(p, sums[..., dim:].clone(), u, o, positive, v, mean1, scale1, mean2, scale2),
        )
        return y.view(members, n, m, dim)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        q, keys, values, weight, _, gain1, shift1, gain2, shift2, *more = ctx.saved_tensors
        p, divisor, u, o, positive, v, mean1, scale1, mean2, scale2 = more
        members, n, m, dim = grads[0].shape
        heads = values.shape[2] - dim
        grad = grads[0].reshape(members, n * m, dim)
        grad, grad_gain2, grad_shift2 = _norm_backward(grad, v, mean2, scale2, gain2, shift2)
        grad_feed = grad * positive
        grad_weight = torch.bmm(o.mT, grad_feed)
        grad_bias = grad_feed.sum(1, keepdim=True)
        grad.baddbmm_(grad_feed, weight.mT)
        grad, grad_gain1, grad_shift1 = _norm_backward(grad, u, mean1, scale1, gain1, shift1)
        grad = grad.view_as(q)
        # A = N / D: dN = dA / D and dD = -(dA . A) / D, per head.
        d_sums = torch.empty(*q.shape[:2], dim + heads, dtype=q.dtype, device=q.device)
        d_top = d_sums[..., :dim].unflatten(-1, (heads, -1))
        torch.div(grad.unflatten(-1, (heads, -1)), divisor.unsqueeze(-1), out=d_top)
        share = (u.view_as(q) - q).mul_(d_sums[..., :dim])
        d_sums[..., dim:] = share.unflatten(-1, (heads, -1)).sum(-1).neg_()
        grad_values = from_heads(torch.bmm(d_sums[..., :dim].mT, p), heads)
        d_scores = torch.bmm(d_sums, values.mT).mul_(p)
        grad_keys = from_heads(torch.bmm(q.mT, d_scores), heads)
        grad.baddbmm_(d_scores, keys.mT)
        return (
            *(grad.view(members, n, m, dim), grad_keys, grad_values, grad_weight, grad_bias),
            *(grad_gain1, grad_shift1, grad_gain2, grad_shift2, None),
        )


class Gather(torch.autograd.Function):
    """The inducing points look at the tokens: ``(P' X) / (P' 1)`` with ``P = exp(X W + b)``.

    The projection of the keys is absorbed in W, that of the values follows the mixing, so that
    no token is projected.

    **Shape**: tokens ``(E, n, M, dim)``, weight ``(E, dim, heads I)``, bias ``(E, 1, heads I)``
    -> ``(E, n, heads I, dim)``
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        members, n, m, dim = x.shape
        flat = x.reshape(members, n * m, dim)
        p = torch.baddbmm(bias, flat, weight).view(members * n, m, -1)
        p.sub_(p.amax(1, keepdim=True)).exp_()
        total = p.sum(1).unsqueeze(-1)
        mixed = torch.bmm(p.mT, flat.view(members * n, m, dim)).div_(total)
        ctx.save_for_backward(x, weight, p, total, mixed)
        return mixed.view(members, n, -1, dim)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, Tensor, Tensor]:
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
        return grad_x.view_as(x), grad_weight, d_scores.sum(1, keepdim=True)
