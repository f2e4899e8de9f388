"""Plain multilayer perceptrons, the networks of most methods of the literature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from hyperdfs.nn.dropout import Dropout

CHUNK = 4096  # rows at a time
Norm = Literal["layer", "batch"]
_NORMS: dict[Norm, type[nn.Module]] = {"layer": nn.LayerNorm, "batch": nn.BatchNorm1d}


class MLP(nn.Module):
    """Hidden layers of linear map, norm (if any), ReLU and dropout, and a linear head.

    `body` gives the last hidden state and `head` the output, so that two networks can share one
    body.

    **Shape**: ``(n, n_in) -> (n, n_out)``

    >>> MLP(4, 2, hidden=(8, 8), dropout=0.3, norm="layer")(torch.zeros(5, 4)).shape
    torch.Size([5, 2])
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        *,
        hidden: Sequence[int] = (128, 128),
        dropout: float = 0.0,
        norm: Norm | None = None,
    ) -> None:
        super().__init__()
        widths = (n_in, *hidden)
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers.append(nn.Linear(before, after))
            if norm is not None:
                layers.append(_NORMS[norm](after))
            layers.append(nn.ReLU())
            if dropout:
                layers.append(Dropout(dropout))
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(widths[-1], n_out)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.head(self.body(x))
        return out


class MaskedNet(MLP):
    """MLP on the masked input ``[x̃ ; m]``.

    The caller hides what is not known: x has zeros in the columns of unknown features
    (`training.masked.observe` does so for rows). With ``sees_mask=False`` the input is x̃ alone, and
    a zero cannot be told from an unknown value.

    **Shape**: ``(n, D), (n, M) -> (n, n_out)``

    >>> net = MaskedNet(n_columns=6, n_features=4, n_out=3)
    >>> net(torch.zeros(5, 6), torch.zeros(5, 4)).shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        *,
        n_columns: int,
        n_features: int,
        n_out: int,
        hidden: Sequence[int] = (128, 128),
        dropout: float = 0.0,
        norm: Norm | None = None,
        sees_mask: bool = True,
    ) -> None:
        n_in = n_columns + n_features if sees_mask else n_columns
        super().__init__(n_in, n_out, hidden=hidden, dropout=dropout, norm=norm)
        self.sees_mask = sees_mask

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(torch.cat([x, mask], -1) if self.sees_mask else x)


def in_parts(evaluate: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    """``evaluate(*inputs)``, some rows at a time: memory does not grow with the table."""
    parts = zip(*(tensor.split(CHUNK) for tensor in inputs), strict=True)
    return torch.cat([evaluate(*part) for part in parts])


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Inside, dropout is off and batch norm uses what it learned; then the mode is as before."""
    training = module.training
    if training:
        module.eval()
    try:
        yield
    finally:
        if training:
            module.train()
