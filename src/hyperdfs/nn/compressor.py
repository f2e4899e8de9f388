"""The network between the pixels of an image and the classifier."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.members import MemberLinear, MemberMLP

BLIND_WIDTH, WIDTH = 128, 256  # of the hidden layer; the paper's is blind


class Compressor(MemberMLP):
    """MLP of all columns to a few inputs, shared by all masks.

    The paper's is blind: the same black pixels may be known or not, and it cannot tell. With
    `sees_mask` the mask is a second input of the first layer. What it adds there, the *shift*, is
    the same for all rows of a mask and computed once for them.

    **Shape**: ``(E or 1, n, D)``, shift ``(E, n, width) -> (E, n, n_out)``, or with groups of rows
    ``(E or 1, K, b, D)``, shift ``(E, K, width) -> (E, K, b, n_out)``
    """

    def __init__(
        self, members: int, n_columns: int, n_features: int, n_out: int, *, sees_mask: bool
    ) -> None:
        width = WIDTH if sees_mask else BLIND_WIDTH
        super().__init__(members, (n_columns, width, n_out))
        self.mask = MemberLinear(members, n_features, width) if sees_mask else None
        self.n_out = n_out
        self.shift_width = width if sees_mask else 0

    def shift(self, mask: Tensor) -> Tensor:
        """``(E or 1, n, M) -> (E, n, width)``"""
        assert self.mask is not None
        added: Tensor = self.mask(mask)
        return added

    def forward(self, x: Tensor, shift: Tensor | None = None) -> Tensor:
        first, last = self.layers
        hidden = first(x.flatten(1, -2)).unflatten(1, x.shape[1:-1])
        if shift is not None:
            hidden = hidden + (shift if shift.dim() == hidden.dim() else shift.unsqueeze(2))
        out: Tensor = last(torch.relu(hidden).flatten(1, -2)).unflatten(1, x.shape[1:-1])
        return out
