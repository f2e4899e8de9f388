"""The compiled token stack as an operation with a gradient."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


class TokenStack(torch.autograd.Function):
    """The sum over the tokens of the last ISAB, for every mask.

    Tokens enter as projected queries, ``off + mask * change``, inducing points as `queries` and
    the sums of `InducedTables.total`. The weights are those of `MultiheadBlock.tail` (of that
    attention), `TokenAttention.weights` and then `InducedSetBlock.weights`, layer by layer.

    **Shape**: mask ``(E or 1, n, M)``, off and change ``(E, M, dim)``, sums
    ``(E, n, heads I dh + heads I)``, queries ``(E, 1, I, dim)`` -> ``(E, n, dim)``
    """

    @staticmethod
    def forward(
        ctx: Any,
        library: ctypes.CDLL,
        heads: int,
        more: int,
        mask: Tensor,
        off: Tensor,
        change: Tensor,
        sums: Tensor,
        queries: Tensor,
        *weights: Tensor,
    ) -> Tensor:
        tensors = [t.contiguous() for t in (mask, off, change, sums, queries, *weights)]
        members, _, points, dim = queries.shape
        pooled = sums.new_empty(members, sums.shape[1], dim)
        sizes = (*mask.shape[1:], points, dim, heads, more)
        for e in range(members):
            inputs, matrices = _of_member(tensors, e)
            if not library.forward(*sizes, *inputs, matrices, pooled[e].data_ptr()):
                raise MemoryError("not enough memory for the tokens of one mask")
        ctx.library, ctx.sizes = library, sizes
        ctx.save_for_backward(*tensors)
        return pooled

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        tensors = ctx.saved_tensors
        mask, off, change, sums, *weights = tensors
        grad = grads[0].contiguous()
        members = len(sums)
        d_mask, d_sums = mask.new_empty(members, *mask.shape[1:]), torch.empty_like(sums)
        d_off, d_change, *d_weights = (torch.zeros_like(t) for t in (off, change, *weights))
        found = [d_mask, d_off, d_change, d_sums, *d_weights]
        for e in range(members):
            inputs, matrices = _of_member(tensors, e)
            outputs, gradients = _of_member(found, e)
            arguments = (*inputs, matrices, grad[e].data_ptr(), *outputs, gradients)
            if not ctx.library.backward(*ctx.sizes, *arguments):
                raise MemoryError("not enough memory for the tokens of one mask")
        return (None, None, None, d_mask.sum_to_size(mask.shape), *found[1:])


def _of_member(tensors: Sequence[Tensor], e: int) -> tuple[list[int], ctypes.Array[Any]]:
    """Addresses of the four inputs of one member, and the list of those of its weights."""
    own = [t[e if len(t) > 1 else 0].data_ptr() for t in tensors]
    return own[:4], (ctypes.c_void_p * len(own[4:]))(*own[4:])
