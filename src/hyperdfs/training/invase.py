"""INVASE (Yoon et al. 2019): an actor proposes subsets, a critic says what they are worth."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from pydantic import Field
from torch import Tensor, nn

from hyperdfs.config import TableConfig
from hyperdfs.masks import MaskSampler
from hyperdfs.nn.mlp import MLP, MaskedNet
from hyperdfs.training.data import Rows
from hyperdfs.training.masked import Observed, observe


class InvaseConfig(TableConfig):
    """Configuration of `invase` and `invase_oracle`; the defaults are `preset="default"`."""

    actor_hidden: tuple[int, ...] = (100, 100)
    critic_hidden: tuple[int, ...] = (200, 200)  # of the critic and of the baseline
    selection_weight: float = Field(0.1, ge=0)  # λ, the loss for choosing every feature
    replay: bool = True  # the critic also learns from the random subsets themselves
    epochs: int = Field(100, ge=1)
    patience: int = Field(30, ge=1)
    learning_rate: float = Field(1e-3, gt=0)
    batch_size: int | None = Field(None, ge=2)
    weight_decay: float = Field(1e-4, ge=0)
    cost_weight: float = Field(1.0, ge=0)


class InvaseNets(nn.Module):
    """Actor, critic and baseline.

    The actor of DFS sees ``[x̃ ; m]`` of what is known so far; that of the original (`peeks`) the
    whole row and nothing else. Both give one logit of π per feature. Critic and baseline predict
    the class, the one from a subset, the other from all there is.
    """

    def __init__(
        self, *, n_columns: int, n_features: int, n_classes: int, config: InvaseConfig, peeks: bool
    ) -> None:
        super().__init__()

        def classifier() -> MaskedNet:
            return MaskedNet(
                n_columns=n_columns,
                n_features=n_features,
                n_out=n_classes,
                hidden=config.critic_hidden,
                norm="batch",
            )

        self.actor: MLP = (
            MLP(n_columns, n_features, hidden=config.actor_hidden)
            if peeks
            else MaskedNet(
                n_columns=n_columns,
                n_features=n_features,
                n_out=n_features,
                hidden=config.actor_hidden,
            )
        )
        self.critic, self.baseline = classifier(), classifier()


@dataclass
class InvaseStep:
    """The loss of one batch, of all three networks; none reaches another's weights."""

    nets: InvaseNets
    config: InvaseConfig
    sampler: MaskSampler
    price: Tensor  # (M,) extra loss for choosing a feature; zeros when all cost the same
    generator: torch.Generator
    peeks: bool

    def loss(self, rows: Rows, epoch: int) -> Tensor:
        """``CE(critic) + CE(baseline) - E[R ln π(s)] + λ mean π``, R the gain over the baseline."""
        nets, config, available = self.nets, self.config, rows.available()
        random = observe(rows, self.sampler.sample(len(rows)), self.sampler)
        if self.peeks:
            logits, free = nets.actor(rows.x), available
        else:
            logits, free = nets.actor(random.x, random.mask), available * (1.0 - random.mask)
        chosen = self._draw(logits) * free
        after = observe(rows, chosen if self.peeks else random.mask + chosen, self.sampler)
        critic = row_loss(nets.critic(after.x, after.mask), rows)
        baseline = row_loss(nets.baseline(rows.x, available), rows)
        gain = (baseline - critic).detach()
        likelihood = (log_likelihood(logits, chosen) * free).sum(1)
        share = torch.sigmoid(logits) * free
        size = config.selection_weight * share.mean(1) + share @ self.price
        total = after.weight * (critic + baseline - gain * likelihood + size)
        if config.replay:
            total = total + self._replayed(random, rows)
        return total.mean()

    def _replayed(self, random: Observed, rows: Rows) -> Tensor:
        return random.weight * row_loss(self.nets.critic(random.x, random.mask), rows)

    def _draw(self, logits: Tensor) -> Tensor:
        """Bernoulli(π), drawn on the CPU so that every device sees the same subsets."""
        uniform = torch.rand(logits.shape, generator=self.generator).to(logits.device)
        return (uniform < torch.sigmoid(logits.detach())).float()


def row_loss(logits: Tensor, rows: Rows) -> Tensor:
    """Cross-entropy of each row, ``(n,)``."""
    return -(torch.log_softmax(logits, -1) * rows.target).sum(-1)


def log_likelihood(logits: Tensor, chosen: Tensor) -> Tensor:
    """``s ln π + (1 - s) ln(1 - π)`` of each feature, ``(n, M)``."""
    return -nn.functional.binary_cross_entropy_with_logits(logits, chosen, reduction="none")
