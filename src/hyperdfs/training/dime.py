"""DIME: values learn the drop of the loss that each purchase brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from hyperdfs.acquisition import NEVER
from hyperdfs.masks import MaskSampler
from hyperdfs.nn.value import ValueNet
from hyperdfs.training.data import Rows
from hyperdfs.training.histories import not_for_sale
from hyperdfs.training.loop import History, Progress
from hyperdfs.training.masked import Recipe, Validate, fit_masked, observe


@dataclass
class ValueSteps:
    """Stage 2 of DIME, along trajectories that mostly follow the values.

    sampler : says which subsets are withheld.
    """

    net: ValueNet
    sampler: MaskSampler
    max_budget: int
    generator: torch.Generator

    def loss(self, rows: Rows, explore: float) -> Tensor:
        """Cross-entropy after each of 0..B purchases and squared errors of the values.

        The target of a value is ``CE_old - CE_new`` of its row. Its mean over rows that look alike
        is I(y; x_i | x_S) when the predictor is right.
        """
        mask = rows.x.new_zeros(len(rows), rows.columns.n_features)
        before, values, weight = self._look(rows, mask)
        total = (weight * before).mean()
        for _ in range(self.max_budget):
            closed = not_for_sale(rows, mask)
            choice = self._choose(values.detach(), closed, explore)
            bought = torch.zeros_like(mask).scatter_(1, choice, 1.0)
            mask = mask + bought * ~closed.all(1, keepdim=True)
            expected = values.gather(1, choice).squeeze(1)
            after, values, weight = self._look(rows, mask)
            drop = (before - after).detach()
            # A row that could not buy anything has nothing to say about the value of its choice.
            told = weight * ~closed.all(1)
            total = total + (weight * after).mean() + (told * (expected - drop).square()).mean()
            before = after
        return total / (self.max_budget + 1)

    def _look(self, rows: Rows, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Cross-entropy and weight of each row ``(n,)`` and the values of what is not known."""
        known = observe(rows, mask, self.sampler)
        logits, values = self.net.outlook(known.x, known.mask)
        loss = -(torch.log_softmax(logits, -1) * rows.target).sum(-1)
        return loss, values, known.weight

    def _choose(self, values: Tensor, closed: Tensor, explore: float) -> Tensor:
        """The best value for its price; at rate `explore` anything that is for sale, ``(n, 1)``."""
        chance = torch.rand(values.shape, generator=self.generator).to(values.device)
        strays = torch.rand(len(values), 1, generator=self.generator) < explore
        scores = torch.where(strays.to(values.device), chance, values / self.net.price)
        return scores.masked_fill(closed, NEVER).argmax(1, keepdim=True)

    def fit(
        self,
        train: Rows,
        validate: Validate,
        recipe: Recipe,
        explore: Sequence[float],
        progress: Progress,
    ) -> History:
        """One round per rate of exploration, each from the best weights so far."""
        history: History = []
        for number, rate in enumerate(explore, 1):

            def loss(rows: Rows, epoch: int, rate: float = rate) -> Tensor:
                return self.loss(rows, rate)

            history += fit_masked(
                self.net,
                train,
                loss,
                validate,
                recipe,
                stage=f"values {number}/{len(explore)}",
                generator=self.generator,
                progress=progress,
                keep_start=number > 1,
            )
        return history
