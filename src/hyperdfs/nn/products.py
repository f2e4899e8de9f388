"""Products with the table of a generated layer, with backward passes written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

CACHED = 2**19  # numbers worked on together, so that they stay in the cache
FEW = 2**17  # the same where each part takes new memory, which a smaller cache should hold
NARROW = 16  # outputs below which a product for each input would be too small


class RowProduct(torch.autograd.Function):
    """``y_o = sum_ih x_i c_h T_iho`` with x and code c of each row; no weights per row.

    Where most cells of x are 0 (features not bought), only the others are worked on, see `_cells`.
    Otherwise the input meets the table first, ``mixed = x T``, a few rows at a time and again in
    backward, so that `mixed` is never kept. Cells of 0 still have a gradient
    ``dx_i = sum_ho c_h dy_o T_iho``, which the mask needs.

    **Shape**: x ``(E or 1, n, n_in)``, code ``(E, n, H + 1)``, table ``(E, n_in, H + 1, n_out)``
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, code: Tensor, table: Tensor) -> Tensor:
        ctx.save_for_backward(x, code, table)
        ctx.cells = _cells(x)
        if ctx.cells is not None:
            y = code.new_zeros(*code.shape[:2], table.shape[3])
            for cells in ctx.cells:
                part = torch.matmul(code[:, cells.rows], cells.of(table))
                y.index_add_(1, cells.rows.view(-1), part.mul_(cells.x).flatten(1, 2))
            return y
        y = code.new_empty(*code.shape[:2], table.shape[3])
        for rows, mixed in _mixed(x, table):
            product = torch.matmul(code[:, rows].unsqueeze(-2), mixed)
            y[:, rows] = product.squeeze(-2)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, Tensor, Tensor]:
        x, code, table = ctx.saved_tensors
        grad = grads[0]
        grad_x = grad_table = None
        if ctx.cells is not None:
            grad_code = torch.zeros_like(code)
            for cells in ctx.cells:
                dy = grad[:, cells.rows].mul_(cells.x)  # (E, columns, cells, n_out)
                product = torch.matmul(dy, cells.of(table).mT).flatten(1, 2)
                grad_code.index_add_(1, cells.rows.view(-1), product)
                product = torch.matmul(code[:, cells.rows].mT, dy)
                if cells.columns is None:
                    grad_table = product
                    continue
                if grad_table is None:
                    grad_table = torch.zeros_like(table)
                grad_table[:, cells.columns] = product
            assert grad_table is not None
            if ctx.needs_input_grad[0]:
                grad_x = _input_gradient(code, table, grad)
        else:
            flat, known = table.flatten(2), x.expand(len(table), -1, -1)
            if ctx.needs_input_grad[0]:
                grad_x = code.new_empty(*code.shape[:2], x.shape[2])
            grad_code = torch.empty_like(code)
            grad_flat = torch.zeros_like(flat)
            for rows, mixed in _mixed(x, table):
                dy = grad[:, rows]
                grad_code[:, rows] = torch.matmul(mixed, dy.unsqueeze(-1)).squeeze(-1)
                torch.mul(code[:, rows].unsqueeze(-1), dy.unsqueeze(-2), out=mixed)
                d_mixed = mixed.flatten(2)
                grad_flat.baddbmm_(known[:, rows].mT, d_mixed)
                if grad_x is not None:
                    grad_x[:, rows] = torch.bmm(d_mixed, flat.mT)
            grad_table = grad_flat.view_as(table)
        return None if grad_x is None else grad_x.sum_to_size(x.shape), grad_code, grad_table


class Gram(torch.autograd.Function):
    """``G = sum_i T_i T_i'``, with ``dT_i = (dG + dG') T_i``; ``(E, n, H, o) -> (E, H, H)``."""

    @staticmethod
    def forward(ctx: Any, table: Tensor) -> Tensor:
        ctx.save_for_backward(table)
        width = table.shape[2]
        gram = table.new_zeros(len(table), width, width)
        for part in table.split(max(1, FEW // table[:, 0].numel()), 1):
            flat = part.transpose(2, 3).flatten(1, 2)
            gram.baddbmm_(flat.mT, flat)
        return gram

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Tensor:
        (table,) = ctx.saved_tensors
        both = grads[0] + grads[0].mT
        if table.shape[3] >= NARROW:
            return torch.matmul(both.unsqueeze(1), table)
        grad = torch.bmm(both, table.transpose(1, 2).flatten(2))
        return grad.unflatten(2, (table.shape[1], -1)).transpose(1, 2).contiguous()


class _Cells(NamedTuple):
    """Up to k cells of each of some columns; missing ones are cells of row 0 with the value 0."""

    columns: Tensor | None  # None: all
    rows: Tensor  # (columns, k)
    x: Tensor  # (E or 1, columns, k, 1)

    def of(self, table: Tensor) -> Tensor:
        return table if self.columns is None else table[:, self.columns]


def _cells(x: Tensor) -> list[_Cells] | None:
    """The cells of x that are not 0 for some member, by column; None when that would not pay.

    A few columns with many of them (the constant 1, what everybody buys) stand apart, so that the
    others are padded to a small number.
    """
    n, n_in = x.shape[1:]
    x = x.mT
    filled = (x != 0).any(0)
    count = filled.sum(1)
    ordered, order = torch.sort(count, descending=True)
    cost = n * torch.arange(n_in, device=x.device) + n_in * ordered
    apart = int(cost.argmin())
    used = int((ordered > 0).sum())
    if 2 * int(cost[apart]) > n * n_in or used == 0:
        return None
    groups = []
    busy, others = order[:apart], order[apart:used]
    if 2 * len(others) > n_in:
        filled[busy] = False
        groups.append(_padded(None, x, filled, int(ordered[apart])))
    elif len(others):
        groups.append(_padded(others, x[:, others], filled[others], int(ordered[apart])))
    if apart:
        rows = torch.arange(n, device=x.device).expand(apart, -1).contiguous()
        groups.append(_Cells(busy, rows, x[:, busy].unsqueeze(-1)))
    return groups


def _padded(columns: Tensor | None, x: Tensor, filled: Tensor, k: int) -> _Cells:
    column, row = filled.nonzero(as_tuple=True)
    count = filled.sum(1)
    slot = torch.arange(len(row), device=x.device) - (count.cumsum(0) - count)[column]
    rows = row.new_zeros(len(filled), k)
    values = x.new_zeros(len(x), len(filled), k)
    rows[column, slot] = row
    values[:, column, slot] = x[:, column, row]
    return _Cells(columns, rows, values.unsqueeze(-1))


def _input_gradient(code: Tensor, table: Tensor, grad: Tensor) -> Tensor:
    """``dx_i = sum_o theta_io dy_o``, with the weights of a few columns at a time."""
    step = max(1, FEW // grad.numel())
    parts = []
    for columns in table.split(step, 1):
        theta = torch.matmul(code.unsqueeze(1), columns)  # (E, columns, n, n_out)
        parts.append(theta.mul_(grad.unsqueeze(1)).sum(-1))
    return torch.cat(parts, 1).mT


def _mixed(x: Tensor, table: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """``x T`` for a few rows at a time, ``(E, rows, H + 1, n_out)``."""
    members, _, width, n_out = table.shape
    flat = table.flatten(2)
    # Each part reads the whole table, so that it should not be much smaller than that.
    step = max(1, max(CACHED, flat.numel() // 2) // (members * width * n_out))
    for start in range(0, x.shape[1], step):
        rows = slice(start, start + step)
        product = torch.bmm(x[:, rows].expand(members, -1, -1), flat)
        yield rows, product.view(members, -1, width, n_out)
