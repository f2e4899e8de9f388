"""Greedy dynamic feature selection: the selector minimises the loss one purchase ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from hyperdfs.acquisition import NEVER
from hyperdfs.masks import MaskSampler
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.training.data import Rows
from hyperdfs.training.histories import not_for_sale, repeated, trajectories
from hyperdfs.training.loop import History, Progress
from hyperdfs.training.losses import cross_entropy
from hyperdfs.training.masked import Recipe, Validate, observe
from hyperdfs.training.purchases import gumbel_noise
from hyperdfs.training.rounds import fit_rounds


@dataclass
class Greedy:
    """Stage 2 of GDFS: both networks along whole trajectories, each step by itself.

    sampler : says which subsets are withheld.
    price : (M,) extra loss for a purchase; zeros when all cost the same.
    logit_scale : scores are divided by this; below 1 they drown the Gumbel noise.
    """

    predictor: MaskedNet
    selector: MaskedNet
    sampler: MaskSampler
    max_budget: int
    price: Tensor
    logit_scale: float
    generator: torch.Generator

    def loss(self, rows: Rows, temperature: float) -> Tensor:
        """Mean cross-entropy after a soft purchase from each state of a trajectory.

        The purchase ``r = softmax((score + G) / T)`` is soft and the predictor sees
        ``max(m, r)``; the trajectory goes on with an independent hard draw, through which no
        gradient flows. Withheld subsets are recognised by the hard one.
        """
        masks, _ = trajectories(self._draw, rows, self.max_budget)
        mask, after = masks[:-1].flatten(0, 1), masks[1:].flatten(0, 1)
        rows = repeated(rows, self.max_budget)
        closed = not_for_sale(rows, mask)
        scores = self._scores(rows.x * rows.columns.expand(mask), mask, closed)
        soft = torch.softmax((scores + self._gumbel(scores)) / temperature, -1)
        soft = soft * ~closed.all(1, keepdim=True)  # a row with nothing left to buy stands still
        seen = torch.maximum(mask, soft)
        logits = self.predictor(rows.x * rows.columns.expand(seen), seen)
        weight = observe(rows, after, self.sampler).weight
        loss = cross_entropy(logits.unsqueeze(0), rows.target, weight)[0]
        return loss + (soft @ self.price).mean()

    def _scores(self, x: Tensor, mask: Tensor, closed: Tensor) -> Tensor:
        scores: Tensor = self.selector(x, mask) / self.logit_scale
        return scores.masked_fill(closed, NEVER)

    def _draw(self, x: Tensor, mask: Tensor, closed: Tensor) -> Tensor:
        """A feature from ``softmax(scores)`` for each row, ``(n, 1)``."""
        scores = self._scores(x, mask, closed)
        return (scores + self._gumbel(scores)).argmax(1, keepdim=True)

    def _gumbel(self, like: Tensor) -> Tensor:
        return gumbel_noise(like.shape, self.generator).to(like.device)

    def fit(
        self,
        train: Rows,
        validate: Validate,
        recipe: Recipe,
        temperatures: Sequence[float],
        progress: Progress,
    ) -> History:
        """One round per temperature, each from the best weights so far."""
        return fit_rounds(
            nn.ModuleList([self.predictor, self.selector]),
            train,
            self.loss,
            temperatures,
            validate,
            recipe,
            stage="selector",
            generator=self.generator,
            progress=progress,
        )
