"""Products with the table of a generated layer, with backward passes written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

CACHED = 2**19  # numbers worked on together, so that they stay in the cache


class RowProduct(torch.autograd.Function):
    """``y_o = sum_ih x_i c_h T_iho`` with x and code c of each row; no weights per row.

    The input meets the table first, ``mixed = x T``, a few rows at a time and again in backward,
    so that `mixed` is never kept. Columns that are 0 in every row (features nobody has) are left
    out; they still have a gradient ``dx_i = sum_ho c_h dy_o T_iho``, which the mask needs.

    **Shape**: x ``(E or 1, n, n_in)``, code ``(E, n, H + 1)``, table ``(E, n_in, H + 1, n_out)``
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, code: Tensor, table: Tensor) -> Tensor:
        ctx.save_for_backward(x, code, table)
        y = code.new_empty(*code.shape[:2], table.shape[3])
        used = _used(x)
        for rows, mixed in _mixed(x, table, used):
            product = torch.matmul(code[:, rows].unsqueeze(-2), mixed)
            y[:, rows] = product.squeeze(-2)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, Tensor, Tensor]:
        x, code, table = ctx.saved_tensors
        grad = grads[0]
        flat, used = table.flatten(2), _used(x)
        known = x if used is None else x[..., used]
        known = known.expand(len(table), -1, -1)
        grad_x = code.new_empty(*code.shape[:2], x.shape[2])
        grad_code = torch.empty_like(code)
        grad_known = flat.new_zeros(len(flat), known.shape[2], flat.shape[2])
        for rows, mixed in _mixed(x, table, used):
            dy = grad[:, rows]
            grad_code[:, rows] = torch.matmul(mixed, dy.unsqueeze(-1)).squeeze(-1)
            torch.mul(code[:, rows].unsqueeze(-1), dy.unsqueeze(-2), out=mixed)
            d_mixed = mixed.flatten(2)
            grad_known.baddbmm_(known[:, rows].mT, d_mixed)
            if ctx.needs_input_grad[0]:
                grad_x[:, rows] = torch.bmm(d_mixed, flat.mT)
        grad_table = grad_known
        if used is not None:
            grad_table = torch.zeros_like(flat)
            grad_table[:, used] = grad_known
        return (
            grad_x.sum_to_size(x.shape) if ctx.needs_input_grad[0] else None,
            grad_code,
            grad_table.view_as(table),
        )


class Gram(torch.autograd.Function):
    """``G = sum_i T_i T_i'``, with ``dT_i = (dG + dG') T_i``; ``(E, n, H, o) -> (E, H, H)``."""

    @staticmethod
    def forward(ctx: Any, table: Tensor) -> Tensor:
        ctx.save_for_backward(table)
        flat = table.transpose(2, 3).flatten(1, 2)
        return torch.bmm(flat.mT, flat)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Tensor:
        (table,) = ctx.saved_tensors
        return torch.matmul((grads[0] + grads[0].mT).unsqueeze(1), table)


def _used(x: Tensor) -> Tensor | None:
    """The columns that are not 0 in every row, or None when that is most of them."""
    used = x.detach().flatten(0, 1).any(0).nonzero().squeeze(1)
    return used if 2 * len(used) < x.shape[2] else None


def _mixed(x: Tensor, table: Tensor, used: Tensor | None) -> Iterator[tuple[slice, Tensor]]:
    """``x T`` for a few rows at a time, ``(E, rows, H + 1, n_out)``."""
    members, _, width, n_out = table.shape
    flat = table.flatten(2)
    if used is not None:
        x, flat = x[..., used], flat[:, used]
    # Each part reads the whole table, so that it should not be much smaller than that.
    step = max(1, max(CACHED, flat.numel() // 2) // (members * width * n_out))
    for start in range(0, x.shape[1], step):
        rows = slice(start, start + step)
        product = torch.bmm(x[:, rows].expand(members, -1, -1), flat)
        yield rows, product.view(members, -1, width, n_out)
