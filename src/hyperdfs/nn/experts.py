"""Several small networks on the masked input, and who of them is heard for which subset."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from hyperdfs.nn.members import MemberMLP
from hyperdfs.nn.mlp import MaskedNet


class CardinalityNet(nn.Module):
    """Two specialists: one for at most ``M // 2`` known features, one for more.

    A row goes through the gradient of its own specialist only, so that random subsets of all sizes
    train each on its own range.

    **Shape**: ``(n, D), (n, M) -> (n, n_out)`` logits

    >>> net = CardinalityNet(n_columns=6, n_features=4, n_out=3, hidden=(8,))
    >>> net(torch.zeros(5, 6), torch.zeros(5, 4)).shape
    torch.Size([5, 3])
    """

    def __init__(
        self, *, n_columns: int, n_features: int, n_out: int, hidden: Sequence[int]
    ) -> None:
        super().__init__()
        self.few, self.many = (
            MaskedNet(n_columns=n_columns, n_features=n_features, n_out=n_out, hidden=hidden)
            for _ in range(2)
        )
        self.most_few = n_features // 2

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        many = mask.detach().sum(1, keepdim=True) > self.most_few + 0.5
        return torch.where(many, self.many(x, mask), self.few(x, mask))


class MixtureNet(nn.Module):
    """A dense mixture of experts: ``p = sum_k w_k(mask) softmax(expert_k([x̃ ; mask]))``.

    The router sees which features are known, not their values.

    **Shape**: ``(n, D), (n, M) -> (n, n_out)``, log probabilities

    >>> net = MixtureNet(n_columns=6, n_features=4, n_out=3, n_experts=5)
    >>> net(torch.zeros(2, 6), torch.zeros(2, 4)).exp().sum(1).allclose(torch.ones(2))
    True
    """

    def __init__(
        self,
        *,
        n_columns: int,
        n_features: int,
        n_out: int,
        n_experts: int,
        hidden: Sequence[int] = (64,),
        router_hidden: int = 64,
    ) -> None:
        super().__init__()
        self.experts = MemberMLP(n_experts, (n_columns + n_features, *hidden, n_out))
        self.router = nn.Sequential(
            nn.Linear(n_features, router_hidden), nn.ReLU(), nn.Linear(router_hidden, n_experts)
        )

    def weights(self, mask: Tensor) -> Tensor:
        """How much each expert counts, ``(n, M) -> (n, K)``."""
        return torch.softmax(self.router(mask), -1)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        opinions = torch.log_softmax(self.experts(torch.cat([x, mask], -1).unsqueeze(0)), -1)
        shares = torch.log_softmax(self.router(mask), -1)
        return torch.logsumexp(opinions + shares.T.unsqueeze(-1), 0)


def imbalance(weights: Tensor) -> Tensor:
    """Squared coefficient of variation of the experts' mean weights, ``(n, K) -> ()``.

    0 when the batch as a whole hears every expert equally.
    """
    mean = weights.mean(0)
    return mean.var(unbiased=False) / mean.mean().square()
