"""A dueling Q-network over class and feature actions."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from hyperdfs.nn.mlp import MaskedNet


class DuelingNet(nn.Module):
    """``Q = V + A - mean A`` from ``[x̃ ; m]``; the C class actions come first, then M features.

    **Shape**: ``(n, D), (n, M) -> (n, C + M)``

    >>> import torch
    >>> net = DuelingNet(n_columns=6, n_features=4, n_classes=3, hidden=(8,))
    >>> net(torch.zeros(5, 6), torch.zeros(5, 4)).shape
    torch.Size([5, 7])
    """

    def __init__(
        self, *, n_columns: int, n_features: int, n_classes: int, hidden: Sequence[int]
    ) -> None:
        super().__init__()
        self.n_classes = n_classes
        # One head for both: the value and then the advantages.
        self.net = MaskedNet(
            n_columns=n_columns,
            n_features=n_features,
            n_out=1 + n_classes + n_features,
            hidden=hidden,
        )

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        out = self.net(x, mask)
        value, advantage = out[:, :1], out[:, 1:]
        q: Tensor = value + advantage - advantage.mean(1, keepdim=True)
        return q
