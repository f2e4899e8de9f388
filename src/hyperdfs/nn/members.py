"""Layers with a leading member axis: E independent copies in one batched product."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

T = TypeVar("T")


class Remembered:
    """What depends on weights alone, computed once for inference and again when they change.

    With gradients on, it is computed afresh each time, and forgotten: the training step that
    follows changes the weights, and fused optimisers do so without a new version number.
    """

    def __init__(self) -> None:
        self._kept: tuple[Any, Any] = (None, None)  # one attribute, so that threads see a whole

    def get(self, weights: Iterable[Tensor], compute: Callable[[], T]) -> T:
        if torch.is_grad_enabled():
            self._kept = (None, None)
            return compute()
        key = tuple((w.data_ptr(), w._version) for w in weights)
        known, value = self._kept
        if key != known:
            value = compute()
            self._kept = (key, value)
        result: T = value
        return result

    def __reduce__(self) -> tuple[type[Remembered], tuple[()]]:
        return Remembered, ()  # copies and pickles start empty


class MemberLinear(nn.Module):
    """E linear layers side by side.

    **Shape**: ``(E or 1, n, n_in) -> (E, n, n_out)``

    >>> MemberLinear(3, 4, 2)(torch.zeros(1, 5, 4)).shape
    torch.Size([3, 5, 2])
    """

    def __init__(self, members: int, n_in: int, n_out: int) -> None:
        super().__init__()
        bound = 1.0 / math.sqrt(n_in)
        self.weight = nn.Parameter(torch.empty(members, n_in, n_out).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(members, 1, n_out).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        members = self.weight.shape[0]
        if x.shape[0] != members:
            x = x.expand(members, *x.shape[1:])
        return torch.baddbmm(self.bias, x, self.weight)


class MemberNorm(nn.Module):
    """Layer normalisation with a gain and shift per member, for ``(E, ..., n)``."""

    def __init__(self, members: int, n: int) -> None:
        super().__init__()
        self.n = n
        self.weight = nn.Parameter(torch.ones(members, n))
        self.bias = nn.Parameter(torch.zeros(members, n))

    def forward(self, x: Tensor) -> Tensor:
        if self.weight.shape[0] == 1:  # the fused kernel, where one gain serves all
            return nn.functional.layer_norm(x, (self.n,), self.weight[0], self.bias[0])
        shape = (self.weight.shape[0], *([1] * (x.dim() - 2)), self.n)
        normed = nn.functional.layer_norm(x, (self.n,))
        return torch.addcmul(self.bias.view(shape), normed, self.weight.view(shape))


class MemberMLP(nn.Module):
    """E multilayer perceptrons with ReLU between the layers and none at the end.

    **Shape**: ``(E or 1, n, widths[0]) -> (E, n, widths[-1])``
    """

    def __init__(self, members: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            MemberLinear(members, n_in, n_out) for n_in, n_out in pairwise(widths)
        )

    def affine(self) -> list[tuple[Tensor, Tensor]]:
        """Weights ``(E, n_in, n_out)`` and biases ``(E, 1, n_out)``, first layer first."""
        return [(layer.weight, layer.bias) for layer in self.layers]  # type: ignore[misc]

    def forward(self, x: Tensor) -> Tensor:
        for i, layer in enumerate(self.layers):
            x = layer(torch.relu(x) if i else x)
        return x
