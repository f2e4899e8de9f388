"""A network that predicts and says what each purchase would be worth."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from hyperdfs.nn.mlp import MaskedNet


class ValueNet(MaskedNet):
    """A masked classifier whose last hidden state also feeds one value per feature.

    The value of feature i stands for the conditional mutual information I(y; x_i | x_S) in nats,
    ``sigmoid(v_i) H(p)``: no purchase can tell more than the prediction leaves open.

    price : buffer (M,), relative costs by which a selector divides the values.

    **Shape**: ``(n, D), (n, M) -> (n, C)`` logits

    >>> net = ValueNet(n_columns=6, n_features=4, n_classes=3)
    >>> net.outlook(torch.zeros(5, 6), torch.zeros(5, 4))[1].shape
    torch.Size([5, 4])
    """

    def __init__(
        self,
        *,
        n_columns: int,
        n_features: int,
        n_classes: int,
        hidden: Sequence[int] = (128, 128),
        dropout: float = 0.0,
    ) -> None:
        super().__init__(
            n_columns=n_columns,
            n_features=n_features,
            n_out=n_classes,
            hidden=hidden,
            dropout=dropout,
        )
        self.value = nn.Linear(hidden[-1], n_features)
        self.price: Tensor
        self.register_buffer("price", torch.ones(n_features))

    def outlook(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits ``(n, C)`` and the value of each feature ``(n, M)``.

        No gradient of the values reaches the prediction through its entropy.
        """
        state = self.body(torch.cat([x, mask], -1))
        logits = self.head(state)
        known = torch.log_softmax(logits.detach(), -1)
        entropy = -(known.exp() * known).sum(-1, keepdim=True)
        return logits, torch.sigmoid(self.value(state)) * entropy
