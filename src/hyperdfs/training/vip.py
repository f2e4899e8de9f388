"""Variational information pursuit: a querier learns which answer helps the classifier most."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from hyperdfs.masks import MaskSampler
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.training.data import Rows
from hyperdfs.training.histories import greedy_histories, not_for_sale, prior_loss
from hyperdfs.training.loop import History, Progress
from hyperdfs.training.losses import cross_entropy
from hyperdfs.training.masked import Recipe, Validate, fit_masked, observe
from hyperdfs.training.purchases import straight_through


@dataclass
class Pursuit:
    """The two stages of V-IP on one pair of networks.

    histories : random histories of the first stage; also says which subsets are withheld.
    price : (M,) extra loss for a query; zeros when all cost the same.
    """

    classifier: MaskedNet
    querier: MaskedNet
    histories: MaskSampler
    max_budget: int
    price: Tensor
    temperature: tuple[float, float]
    generator: torch.Generator

    def loss(self, rows: Rows, history: Tensor, temperature: float) -> Tensor:
        """Cross-entropy after one more answer, of the querier's choice.

        The query is a straight-through softmax without noise, so the gradient tells the querier
        what the answers to its other questions would have been worth.
        """
        known = observe(rows, history)
        closed = not_for_sale(rows, known.mask)
        query = straight_through(self.querier(known.x, known.mask), closed, temperature=temperature)
        after = observe(rows, known.mask + query, self.histories)
        logits = self.classifier(after.x, after.mask)
        loss = cross_entropy(logits.unsqueeze(0), rows.target, after.weight)[0]
        prior = prior_loss(self.classifier, rows) / (self.max_budget + 1)
        return loss + prior + (query @ self.price).mean()

    def fit(
        self,
        train: Rows,
        validate: Validate,
        random: Recipe,
        biased: Recipe,
        progress: Progress,
    ) -> History:
        """Random histories first, then those that the querier itself makes."""
        both = nn.ModuleList([self.classifier, self.querier])
        first, last = self.temperature

        def random_loss(rows: Rows, epoch: int) -> Tensor:
            temperature = first + (last - first) * epoch / max(1, random.epochs - 1)
            return self.loss(rows, self.histories.sample(len(rows)), temperature)

        def biased_loss(rows: Rows, epoch: int) -> Tensor:
            lengths = torch.randint(self.max_budget, (len(rows),), generator=self.generator)
            return self.loss(rows, greedy_histories(self.querier, rows, lengths), last)

        history = fit_masked(
            both,
            train,
            random_loss,
            validate,
            random,
            stage="random histories",
            generator=self.generator,
            progress=progress,
        )
        return history + fit_masked(
            both,
            train,
            biased_loss,
            validate,
            biased,
            stage="own histories",
            generator=self.generator,
            progress=progress,
            keep_start=True,
        )
