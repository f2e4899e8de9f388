"""The partial variational autoencoder of EDDI: any subset of the features, and y, to a latent z."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from hyperdfs.nn.mlp import MLP

EMBEDDING = 10  # learned description of each column
WIDEST = 10.0  # bound on the log-variance, so that no exponential overflows


class Normal(NamedTuple):
    """Independent normal distributions; both of **shape** ``(..., L)``."""

    mean: Tensor
    log_var: Tensor

    def at(self, noise: Tensor) -> Tensor:
        """The draw that belongs to standard normal `noise`."""
        return self.mean + (0.5 * self.log_var).exp() * noise


def kl(p: Normal, q: Normal) -> Tensor:
    """KL(p ‖ q), summed over the last axis; squared distances are in units of q's *variance*."""
    gap = p.log_var - q.log_var
    distance = (p.mean - q.mean).square() * (-q.log_var).exp()
    return 0.5 * (gap.exp() - gap - 1.0 + distance).sum(-1)


class PartialVAE(nn.Module):
    """Set encoder of what is known and decoder of every column and of y.

    A known feature contributes ``h_j = relu(Σ_c x_c u_c + v_j)`` over its columns c, where
    ``u_c = W [1, e_c]`` and ``v_j = w b_j + a`` with learned e_c and b_j: EDDI's
    ``h([x_j, x_j e_j, b_j])`` for features of one column. y contributes a learned vector of its
    class. Contributions add up, so a further purchase is one more term.

    column_group : (D,) feature of each column.
    """

    def __init__(
        self,
        *,
        column_group: Sequence[int],
        n_features: int,
        n_classes: int,
        width: int,
        latent: int,
        encoder_hidden: Sequence[int],
        decoder_hidden: Sequence[int],
    ) -> None:
        super().__init__()
        self.n_columns, self.n_features = len(column_group), n_features
        self.column_embedding = nn.Parameter(torch.randn(self.n_columns, EMBEDDING))
        self.feature_bias = nn.Parameter(torch.randn(n_features, 1))
        self.element = nn.Linear(1 + EMBEDDING + 1, width)
        self.labels = nn.Embedding(n_classes, width)
        self.encoder = MLP(width, 2 * latent, hidden=encoder_hidden)
        self.decoder = MLP(latent, self.n_columns + n_classes, hidden=decoder_hidden)
        group = torch.as_tensor(column_group)
        self._group = None if torch.equal(group, torch.arange(n_features)) else group

    def elements(self, x: Tensor) -> Tensor:
        """Contribution of each feature if it is known: ``(..., D) -> (..., M, K)``."""
        weight = self.element.weight
        slope = weight[:, 0] + self.column_embedding @ weight[:, 1:-1].T
        start = self.feature_bias @ weight[:, -1:].T + self.element.bias
        return torch.relu(self._add_up(x.unsqueeze(-1) * slope) + start)

    def per_feature(self, columns: Tensor) -> Tensor:
        """Mean over the columns of each feature: ``(..., D) -> (..., M)``."""
        ones = torch.ones(self.n_columns, 1, device=columns.device)
        return (self._add_up(columns.unsqueeze(-1)) / self._add_up(ones)).squeeze(-1)

    def _add_up(self, parts: Tensor) -> Tensor:
        """Sum over the columns of each feature: ``(..., D, K) -> (..., M, K)``."""
        if self._group is None:
            return parts
        total = parts.new_zeros(*parts.shape[:-2], self.n_features, parts.shape[-1])
        return total.index_add(-2, self._group.to(parts.device), parts)

    def gather(self, x: Tensor, mask: Tensor) -> Tensor:
        """Sum of the contributions of what is known: ``(..., D), (..., M) -> (..., K)``."""
        return (self.elements(x) * mask.unsqueeze(-1)).sum(-2)

    def encode(self, total: Tensor) -> Normal:
        """q(z | contributions that add up to `total`): ``(..., K) -> (..., L)`` twice."""
        mean, log_var = self.encoder(torch.relu(total)).chunk(2, -1)
        return Normal(mean, log_var.clamp(-WIDEST, WIDEST))

    def decode(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Means of the columns ``(..., D)`` and logits of y ``(..., C)``."""
        out: Tensor = self.decoder(z)
        return out[..., : self.n_columns], out[..., self.n_columns :]
