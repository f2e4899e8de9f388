"""Attention blocks of the Set Transformer (Lee et al. 2019) for sets of mask tokens.

Token i of a mask is ``t_i = m_i E1_i + (1 - m_i) E0_i``: only 2M distinct tokens exist. The blocks
below use that, and are algebraically equal to the textbook form (tests/nn/textbook.py).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from hyperdfs.nn.members import MemberLinear, MemberNorm, Remembered
from hyperdfs.nn.tokens import Gather, Spread, from_heads


class MultiheadBlock(nn.Module):
    """Parameters of one MAB and the part of it that follows the attention.

    ``O = LN(Q' + Att(Q', K', V'))``, ``out = LN(O + ReLU(O W_o + b))``
    """

    def __init__(self, members: int, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = MemberLinear(members, dim, dim)
        self.key = MemberLinear(members, dim, dim)
        self.value = MemberLinear(members, dim, dim)
        self.out = MemberLinear(members, dim, dim)
        self.norm_attended = MemberNorm(members, dim)
        self.norm_out = MemberNorm(members, dim)

    def finish(self, u: Tensor) -> Tensor:
        """Norm and feed-forward of ``u = Q' + Att(Q', K', V')``, ``(E, ..., dim)``."""
        o = self.norm_attended(u)
        feed = self.out(o.flatten(1, -2)).view_as(o)
        return self.norm_out(o + torch.relu(feed))

    def tail(self) -> tuple[Tensor, ...]:
        """The weights of `finish`."""
        first, second = self.norm_attended, self.norm_out
        return (
            *(self.out.weight, self.out.bias),
            *(first.weight, first.bias, second.weight, second.bias),
        )

    def split(self, x: Tensor) -> Tensor:
        """``(..., n, dim) -> (..., heads, n, dim / heads)``"""
        return x.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def merge(self, x: Tensor) -> Tensor:
        return x.transpose(-3, -2).flatten(-2)


class _MaskProduct(torch.autograd.Function):
    """``mask @ (on - off)`` whose mask gradient is that of the token interpolation.

    For masks of zeros and ones the sum over tokens of f(t_i) is linear in the mask, but its
    derivative along ``t_i = m_i E1_i + (1 - m_i) E0_i`` is f'(t_i)(E1_i - E0_i), not the secant
    ``on - off``. ``slopes`` holds that derivative at the two states, all features on, then off.
    """

    @staticmethod
    def forward(ctx: Any, mask: Tensor, change: Tensor, slopes: Tensor) -> Tensor:
        ctx.save_for_backward(mask, slopes)
        return mask.expand(change.shape[0], -1, -1) @ change

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, Tensor, None]:
        (grad,) = grads
        mask, slopes = ctx.saved_tensors
        grad_mask = None
        if ctx.needs_input_grad[0]:
            on, off = (grad @ slopes.mT).chunk(2, -1)
            grad_mask = torch.lerp(off, on, mask).sum_to_size(mask.shape)
        return grad_mask, mask.expand(grad.shape[0], -1, -1).mT @ grad, None


class InducedTables(NamedTuple):
    """The part of `InducedAttention` that no mask changes."""

    queries: Tensor  # (E, 1, I, dim)
    start: Tensor  # (E, 1, heads I dh + heads I) for the empty mask
    change: Tensor  # (E, M, heads I dh + heads I) by switching a feature on
    slopes: Tensor | None  # (E, 2M, ...) derivative along the interpolation, on and off

    def total(self, mask: Tensor) -> Tensor:
        """Numerators and denominators of the softmax, ``(E, n, heads I dh + heads I)``."""
        if self.slopes is None:
            mask = mask.expand(self.change.shape[0], -1, -1)
            return torch.baddbmm(self.start, mask, self.change)
        product: Tensor = _MaskProduct.apply(mask, self.change, self.slopes)
        return self.start + product


class InducedAttention(nn.Module):
    """First half of an ISAB over mask tokens, ``MAB(P, tokens)``, as products with the mask.

    With ``A_s = exp(score)`` for token state s, numerator and denominator of the softmax are
    ``mask @ (A1 v1 - A0 v0) + sum A0 v0`` and ``mask @ (A1 - A0) + sum A0``.

    tangent : take the mask gradient along the token interpolation, as the paper does; otherwise
        the secant, which is the effect of switching the feature on or off.

    **Shape**: presence and absence tables ``(E, M, dim)``, mask ``(E or 1, n, M)`` ->
    ``(E, n, n_inducing, dim)``
    """

    def __init__(
        self, members: int, dim: int, heads: int, n_inducing: int, *, tangent: bool
    ) -> None:
        super().__init__()
        self.tangent = tangent
        self.block = MultiheadBlock(members, dim, heads)
        bound = math.sqrt(6.0 / (n_inducing + dim))  # Xavier uniform
        self.inducing = nn.Parameter(torch.empty(members, n_inducing, dim).uniform_(-bound, bound))
        self._tables = Remembered()

    def forward(self, presence: Tensor, absence: Tensor, mask: Tensor) -> Tensor:
        queries, total = self.sums(presence, absence, mask)
        block, n_inducing = self.block, self.inducing.shape[1]
        n_weights = block.heads * n_inducing
        shape = (block.heads, n_inducing, -1)
        numerator = total[..., :-n_weights].unflatten(-1, shape)
        denominator = total[..., -n_weights:].unflatten(-1, shape)
        return block.finish(queries + block.merge(numerator / denominator))

    def sums(self, presence: Tensor, absence: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Queries ``(E, 1, I, dim)``, numerators and denominators as `InducedTables.total`."""
        tables = self._tables.get(
            [presence, absence, *self.parameters()],
            lambda: self.tables(presence, absence, slopes=self.tangent and mask.requires_grad),
        )
        return tables.queries, tables.total(mask)

    def tables(self, presence: Tensor, absence: Tensor, *, slopes: bool = False) -> InducedTables:
        """What each of the 2M tokens adds to numerators and denominators of the softmax."""
        block = self.block
        queries = block.query(self.inducing)
        heads = block.split(queries) / math.sqrt(queries.shape[-1])
        tokens = torch.cat([presence, absence], 1)
        scores = heads @ block.split(block.key(tokens)).mT  # (E, heads, I, 2M)
        # One constant per inducing point keeps exp in range and cancels in the quotient.
        weight = torch.exp(scores - scores.detach().amax(-1, keepdim=True))
        value = block.split(block.value(tokens))
        on, off = torch.cat([_rows(_weighted(weight, value)), _rows(weight)], -1).chunk(2, 1)
        start, change = off.sum(1, keepdim=True), on - off
        if not slopes:
            return InducedTables(queries.unsqueeze(1), start, change, None)
        with torch.no_grad():  # d/dm of (exp(s) v, exp(s)) along the interpolation
            rise, climb = (_rise(scores, -1), _rise(value, -2))
            steep = weight * rise
            slope = _weighted(steep, value).add_(_weighted(weight, climb))
            slope = torch.cat([_rows(slope), _rows(steep)], -1)
        return InducedTables(queries.unsqueeze(1), start, change, slope)


def _rise(x: Tensor, dim: int) -> Tensor:
    """What presence adds to absence, for the tokens of both."""
    on, off = x.chunk(2, dim)
    return torch.cat([on - off] * 2, dim)


def _weighted(weight: Tensor, value: Tensor) -> Tensor:
    """``(E, heads, I, M), (E, heads, M, dh) -> (E, heads, I, dh, M)``"""
    return weight.unsqueeze(-2) * value.mT.unsqueeze(2)


def _rows(table: Tensor) -> Tensor:
    """``(E, ..., M) -> (E, M, everything else)``"""
    return table.flatten(1, -2).mT


class TokenAttention(nn.Module):
    """Second half of an ISAB, ``MAB(tokens, induced)``: every token looks at the induced points.

    **Shape**: projected queries ``(E, n, M, dim)``, induced ``(E, n, I, dim)`` ->
    ``(E, n, M, dim)``
    """

    def __init__(self, members: int, dim: int, heads: int) -> None:
        super().__init__()
        self.block = MultiheadBlock(members, dim, heads)

    def project(self, tokens: Tensor) -> Tensor:
        return self.block.query(tokens.flatten(1, -2)).view_as(tokens)

    def forward(self, queries: Tensor, induced: Tensor) -> Tensor:
        block, dim = self.block, queries.shape[-1]
        flat = induced.flatten(1, 2)
        keys, values = (f(flat).view(-1, *induced.shape[2:]) for f in (block.key, block.value))
        spread: Tensor = Spread.apply(
            queries, keys / math.sqrt(dim), values, *block.tail(), block.heads
        )
        return spread

    def weights(self) -> tuple[Tensor, ...]:
        """What the compiled form needs besides the queries; the keys are scaled."""
        block, scale = self.block, 1.0 / math.sqrt(self.block.key.bias.shape[-1])
        keys = (block.key.weight * scale, block.key.bias * scale)
        return (*keys, block.value.weight, block.value.bias, *block.tail())


class InducedSetBlock(nn.Module):
    """A whole ISAB for tokens that differ from sample to sample (every layer after the first).

    **Shape**: ``(E, n, M, dim) -> (E, n, M, dim)``
    """

    def __init__(self, members: int, dim: int, heads: int, n_inducing: int) -> None:
        super().__init__()
        self.block = MultiheadBlock(members, dim, heads)
        bound = math.sqrt(6.0 / (n_inducing + dim))
        self.inducing = nn.Parameter(torch.empty(members, n_inducing, dim).uniform_(-bound, bound))
        self.tokens = TokenAttention(members, dim, heads)

    def forward(self, x: Tensor) -> Tensor:
        return self.tokens(self.tokens.project(x), self.induce(x))

    def induce(self, x: Tensor) -> Tensor:
        """``MAB(P, x)``: ``score = x (W_k P'^T)`` and ``(A x) W_v``, so no token is projected."""
        block, dim = self.block, x.shape[-1]
        partners, start = self._partners_and_start()
        heads = block.key.weight.unflatten(-1, (block.heads, -1)).transpose(1, 2)
        scores = (heads @ block.split(partners).mT).transpose(1, 2).flatten(2)
        mixed: Tensor = Gather.apply(x, scores)
        values = torch.bmm(mixed.flatten(1, 2), block.value.weight)  # of all heads; own ones count
        attended = from_heads(values.view(-1, *mixed.shape[2:]), block.heads)
        return block.finish(start.unsqueeze(1) + attended.view(*x.shape[:2], -1, dim))

    def weights(self) -> tuple[Tensor, ...]:
        """What the compiled form needs."""
        query, block = self.tokens.block.query, self.block
        return (
            *(query.weight, query.bias, block.key.weight, block.value.weight),
            *(*self._partners_and_start(), *block.tail(), *self.tokens.weights()),
        )

    def _partners_and_start(self) -> tuple[Tensor, Tensor]:
        """What the keys meet, and the residual with the bias of the values, ``(E, I, dim)`` both.

        The bias of the keys adds one number to all scores of a point and so changes nothing; it
        takes part with a factor of 0 to have a gradient, like every other weight.
        """
        block = self.block
        queries = block.query(self.inducing)
        partners = queries / math.sqrt(queries.shape[-1])
        return partners, queries + torch.add(block.value.bias, block.key.bias, alpha=0.0)
