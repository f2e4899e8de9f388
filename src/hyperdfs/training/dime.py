"""DIME: values learn the drop of the loss that each purchase brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from hyperdfs.acquisition import NEVER
from hyperdfs.masks import MaskSampler
from hyperdfs.nn.value import ValueNet
from hyperdfs.training.data import Rows
from hyperdfs.training.histories import repeated, trajectories
from hyperdfs.training.loop import History, Progress
from hyperdfs.training.masked import Recipe, Validate, observe
from hyperdfs.training.rounds import fit_rounds


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
        masks, choices = trajectories(partial(self._choose, explore), rows, self.max_budget)
        every = repeated(rows, len(masks))
        known = observe(every, masks.flatten(0, 1), self.sampler)
        logits, values = self.net.outlook(known.x, known.mask)
        losses = -(torch.log_softmax(logits, -1) * every.target).sum(-1).view(len(masks), -1)
        weight = known.weight.view_as(losses)
        expected = values.view_as(masks)[:-1].gather(2, choices.unsqueeze(2)).squeeze(2)
        drop = (losses[:-1] - losses[1:]).detach()
        # A row that could not buy anything has nothing to say about the value of its choice.
        told = weight[1:] * (masks[1:] - masks[:-1]).sum(2)
        squared = told * (expected - drop).square()
        return ((weight * losses).mean(1).sum() + squared.mean(1).sum()) / len(masks)

    def _choose(self, explore: float, x: Tensor, mask: Tensor, closed: Tensor) -> Tensor:
        """The best value for its price; at rate `explore` anything that is for sale, ``(n, 1)``."""
        _, values = self.net.outlook(x, mask)
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
        return fit_rounds(
            self.net,
            train,
            self.loss,
            explore,
            validate,
            recipe,
            stage="values",
            generator=self.generator,
            progress=progress,
        )
