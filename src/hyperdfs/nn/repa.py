"""A classifier of complete rows whose last layers are bent to suit each subset."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

Change = Literal["additive", "low_rank", "scale_shift"]


class RepaNet(nn.Module):
    """A base MLP on x̃, all of whose layers but the first change with the mask.

    The mask enters as ``u = [m ; 1 - m] / sqrt(M)``, which has norm 1 for every subset, so that
    the changes do not grow with the number of known features. They start at exactly 0: untrained,
    the network is its base.

    **Shape**: ``(n, D), (n, M) -> (n, C)`` logits

    >>> net = RepaNet(n_columns=6, n_features=4, n_classes=3)
    >>> x, mask = torch.randn(5, 6), torch.ones(5, 4)
    >>> torch.equal(net(x, mask), net.plain(x))
    True
    """

    def __init__(
        self,
        *,
        n_columns: int,
        n_features: int,
        n_classes: int,
        hidden: Sequence[int] = (64, 32),
        code_width: int = 64,
        change: Change = "additive",
        rank: int = 4,
    ) -> None:
        super().__init__()
        widths = (n_columns, *hidden, n_classes)
        self.base = nn.ModuleList(nn.Linear(n_in, n_out) for n_in, n_out in pairwise(widths))
        self.code = nn.Sequential(nn.Linear(2 * n_features, code_width), nn.ReLU())
        self.changes = nn.ModuleList(
            _change(change, code_width, n_in, n_out, rank) for n_in, n_out in pairwise(widths[1:])
        )

    def plain(self, x: Tensor) -> Tensor:
        """Logits of the base alone."""
        for number, layer in enumerate(self.base):
            x = layer(torch.relu(x) if number else x)
        return x

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        code = self.code(torch.cat([mask, 1.0 - mask], -1) / math.sqrt(mask.shape[-1]))
        x = self.base[0](x)
        for layer, change in zip(list(self.base)[1:], self.changes, strict=True):
            x = change(layer, torch.relu(x), code)
        return x


class AdditiveChange(nn.Module):
    """``x (W + ΔW(code)) + b + Δb(code)``."""

    def __init__(self, code_width: int, n_in: int, n_out: int) -> None:
        super().__init__()
        self.weight = _zero(nn.Linear(code_width, n_in * n_out))
        self.bias = _zero(nn.Linear(code_width, n_out))

    def forward(self, layer: nn.Linear, x: Tensor, code: Tensor) -> Tensor:
        matrix = self.weight(code).unflatten(-1, (layer.in_features, layer.out_features))
        added: Tensor = torch.bmm(x.unsqueeze(1), matrix).squeeze(1) + self.bias(code)
        return layer(x) + added


class LowRankChange(nn.Module):
    """``x (W + U(code) V(code)) + b + Δb(code)``; V alone starts at 0, so that U can learn."""

    def __init__(self, code_width: int, n_in: int, n_out: int, rank: int) -> None:
        super().__init__()
        self.left = nn.Linear(code_width, n_in * rank)
        self.right = _zero(nn.Linear(code_width, rank * n_out))
        self.bias = _zero(nn.Linear(code_width, n_out))
        self.rank = rank

    def forward(self, layer: nn.Linear, x: Tensor, code: Tensor) -> Tensor:
        left = self.left(code).unflatten(-1, (layer.in_features, self.rank))
        right = self.right(code).unflatten(-1, (self.rank, layer.out_features))
        added: Tensor = (x.unsqueeze(1) @ left @ right).squeeze(1) + self.bias(code)
        return layer(x) + added


class ScaleShiftChange(nn.Module):
    """``(x W) (1 + a(code)) + b + Δb(code)``."""

    def __init__(self, code_width: int, n_in: int, n_out: int) -> None:
        super().__init__()
        self.scale = _zero(nn.Linear(code_width, n_out))
        self.bias = _zero(nn.Linear(code_width, n_out))

    def forward(self, layer: nn.Linear, x: Tensor, code: Tensor) -> Tensor:
        linear = nn.functional.linear(x, layer.weight)
        added: Tensor = linear * self.scale(code) + self.bias(code)
        return layer(x) + added


def _change(change: Change, code_width: int, n_in: int, n_out: int, rank: int) -> nn.Module:
    if change == "low_rank":
        return LowRankChange(code_width, n_in, n_out, rank)
    kind = AdditiveChange if change == "additive" else ScaleShiftChange
    return kind(code_width, n_in, n_out)


def _zero(layer: nn.Linear) -> nn.Linear:
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
