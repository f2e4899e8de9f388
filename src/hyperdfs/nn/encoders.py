"""Subset encoders: mask -> conditioning vector z, ``(E or 1, n, M) -> (E, n, d')``."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from hyperdfs.nn.attention import InducedAttention, InducedSetBlock, TokenAttention
from hyperdfs.nn.members import MemberMLP, Remembered
from hyperdfs.nn.native.build import library
from hyperdfs.nn.native.function import TokenStack

CACHED = 2**20  # numbers in one tensor of tokens that are worked on together
LARGE = 2**25  # numbers in one such tensor of a batch above which none is kept for backward


class TokenTables(nn.Module):
    """Presence and absence embeddings, drawn with one variance (an assumption of the paper's
    Proposition on weight scale)."""

    def __init__(self, members: int, n_features: int, dim: int) -> None:
        super().__init__()
        shape, std = (members, n_features, dim), 1.0 / math.sqrt(dim)
        self.presence = nn.Parameter(torch.randn(shape) * std)
        self.absence = nn.Parameter(torch.randn(shape) * std)


class SetTransformerEncoder(nn.Module):
    """The paper's encoder: token tables, a stack of ISABs, sum over all M tokens, output net."""

    def __init__(
        self,
        members: int,
        n_features: int,
        *,
        dim: int,
        out_dim: int,
        layers: int = 2,
        heads: int = 4,
        n_inducing: int = 16,
    ) -> None:
        super().__init__()
        n_inducing = min(n_inducing, n_features)
        self.tables = TokenTables(members, n_features, dim)
        self.induced = InducedAttention(members, dim, heads, n_inducing, tangent=True)
        self.tokens = TokenAttention(members, dim, heads)
        self.more = nn.ModuleList(
            InducedSetBlock(members, dim, heads, n_inducing) for _ in range(layers - 1)
        )
        self.output = MemberMLP(members, (dim, dim, out_dim))
        self._weights = Remembered()

    def forward(self, mask: Tensor) -> Tensor:
        tables = self.tables.presence, self.tables.absence
        compiled = library(mask.dtype) if mask.device.type == "cpu" else None
        if compiled is None:
            return self.output(self._pool_parts(mask, self.induced(*tables, mask)))
        queries, sums = self.induced.sums(*tables, mask)
        off, change, *weights = self._weights.get(self.parameters(), self._stack)
        sizes = self.tokens.block.heads, len(self.more)
        return self.output(
            TokenStack.apply(compiled, *sizes, mask, off, change, sums, queries, *weights)
        )

    def _queries(self) -> tuple[Tensor, Tensor]:
        """The projected query of each token when off, and what switching it on changes."""
        tables = self.tables
        both = self.tokens.block.query(torch.cat([tables.presence, tables.absence], 1))
        query_on, query_off = both.chunk(2, 1)
        return query_off, query_on - query_off

    def _stack(self) -> list[Tensor]:
        """The queries, then the weights of all layers."""
        blocks = [self.tokens, *self.more]
        weights = (weight for block in blocks for weight in block.weights())
        return [*self._queries(), *self.induced.block.tail(), *weights]

    def _pool_parts(self, mask: Tensor, induced: Tensor) -> Tensor:
        query_off, change = self._queries()
        # A few masks at a time, so that their tokens stay in the cache.
        points, dim = induced.shape[2:]
        per_mask = mask.shape[2] * max(dim, self.tokens.block.heads * points)
        n = max(1, CACHED // (len(induced) * per_mask))
        n = -(-mask.shape[1] // -(-mask.shape[1] // n))  # parts of like size
        recompute = torch.is_grad_enabled() and len(induced) * mask.shape[1] * per_mask > LARGE
        pooled = []
        for part in zip(mask.split(n, 1), induced.split(n, 1), strict=True):
            arguments = (*part, query_off, change)
            if recompute:
                pooled.append(checkpoint(self._pool, *arguments, use_reentrant=False))
            else:
                pooled.append(self._pool(*arguments))
        return torch.cat(pooled, 1)

    def _pool(self, mask: Tensor, induced: Tensor, query_off: Tensor, change: Tensor) -> Tensor:
        """The sum over all tokens of some masks, ``(E, n, dim)``."""
        queries = torch.addcmul(query_off.unsqueeze(1), mask.unsqueeze(-1), change.unsqueeze(1))
        x = self.tokens(queries, induced)
        for block in self.more:
            x = block(x)
        return x.sum(2)


class InducingPoolEncoder(nn.Module):
    """The cheap member of the family: the induced points of one ISAB are summed, not its tokens.

    Linear in the mask up to the pooling, so its cost hardly grows with M.
    """

    def __init__(
        self,
        members: int,
        n_features: int,
        *,
        dim: int,
        out_dim: int,
        heads: int = 4,
        n_inducing: int = 16,
    ) -> None:
        super().__init__()
        n_inducing = min(n_inducing, n_features)
        self.tables = TokenTables(members, n_features, dim)
        self.induced = InducedAttention(members, dim, heads, n_inducing, tangent=False)
        self.output = MemberMLP(members, (dim, dim, out_dim))

    def forward(self, mask: Tensor) -> Tensor:
        induced = self.induced(self.tables.presence, self.tables.absence, mask)
        return self.output(induced.sum(2))


class DeepSetsEncoder(nn.Module):
    """Ablation: a per-token MLP in place of the ISABs; its sum is linear in the mask."""

    def __init__(self, members: int, n_features: int, *, dim: int, out_dim: int) -> None:
        super().__init__()
        self.tables = TokenTables(members, n_features, dim)
        self.per_token = MemberMLP(members, (dim, dim, dim))
        self.output = MemberMLP(members, (dim, dim, out_dim))

        self._pooled = Remembered()

    def forward(self, mask: Tensor) -> Tensor:
        start, change = self._pooled.get(self.parameters(), self._tokens)
        return self.output(torch.baddbmm(start, mask.expand(len(change), -1, -1), change))

    def _tokens(self) -> tuple[Tensor, Tensor]:
        """The sum for the empty mask, and what each feature changes of it."""
        on, off = self.per_token(self.tables.presence), self.per_token(self.tables.absence)
        return off.sum(1, keepdim=True), on - off


class RawMaskEncoder(nn.Module):
    """Ablation: the mask itself is the condition; nothing is learned."""

    def forward(self, mask: Tensor) -> Tensor:
        return mask


def make_encoder(
    kind: str, members: int, n_features: int, *, dim: int, out_dim: int, layers: int
) -> tuple[nn.Module, int]:
    """The encoder named `kind` and the width of its output."""
    if kind == "set_transformer":
        return SetTransformerEncoder(
            members, n_features, dim=dim, out_dim=out_dim, layers=layers
        ), out_dim
    if kind == "inducing_pool":
        return InducingPoolEncoder(members, n_features, dim=dim, out_dim=out_dim), out_dim
    if kind == "deep_sets":
        return DeepSetsEncoder(members, n_features, dim=dim, out_dim=out_dim), out_dim
    if kind == "raw_mask":
        return RawMaskEncoder(), n_features
    raise ValueError(f"unknown encoder {kind!r}")
