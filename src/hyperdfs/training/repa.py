"""RePa: a classifier of complete rows, then its changes for each subset, then the policy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from hyperdfs.masks import MaskSampler
from hyperdfs.nn.repa import RepaNet
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.training.data import Rows
from hyperdfs.training.loop import History, Progress
from hyperdfs.training.losses import cross_entropy
from hyperdfs.training.masked import Recipe, Validate, fit_masked, observe, subset_loss
from hyperdfs.training.purchases import gumbel_purchases


def fit_base(
    net: RepaNet,
    train: Rows,
    valid: Rows,
    recipe: Recipe,
    *,
    generator: torch.Generator,
    progress: Progress,
) -> History:
    """The base on complete rows; a missing cell counts as the mean of its column."""

    def complete_loss(rows: Rows) -> Tensor:
        return cross_entropy(net.plain(rows.x).unsqueeze(0), rows.target, rows.weight)[0]

    return fit_masked(
        net.base,
        train,
        lambda batch, epoch: complete_loss(batch),
        lambda: float(complete_loss(valid)),
        recipe,
        stage="base",
        generator=generator,
        progress=progress,
    )


def anchor(net: RepaNet) -> None:
    """From now on the base stays as it is, but for the biases of its first layer.

    These may follow the zeros that stand for unknown values.
    """
    for parameter in net.base.parameters():
        parameter.requires_grad_(False)
    first = net.base[0]
    assert isinstance(first, nn.Linear)
    first.bias.requires_grad_(True)


@torch.no_grad()
def with_global_opinion(net: RepaNet, rows: Rows, share: float) -> Rows:
    """Rows whose targets are in part what the base says of the complete row.

    Cross-entropy against ``(1 - w) y + w p_full`` is ``(1 - w) CE(y) + w KL(p_full || p_S)`` but
    for a constant.
    """
    opinion = torch.softmax(net.plain(rows.x), -1)
    return replace(rows, target=(1.0 - share) * rows.target + share * opinion)


@dataclass
class PolicySteps:
    """The last stage: selector and changes jointly, through whole trajectories of purchases.

    price : (M,) extra loss for a purchase; zeros when all cost the same.
    """

    net: RepaNet
    scores: ScoreNet
    sampler: MaskSampler
    max_budget: int
    price: Tensor
    temperature: tuple[float, float]
    generator: torch.Generator

    def loss(self, rows: Rows, temperature: float) -> Tensor:
        """Cross-entropy after ``tau ~ U{1..B}`` purchases, plus that of random subsets."""
        lengths = torch.randint(1, self.max_budget + 1, (len(rows),), generator=self.generator)
        mask = gumbel_purchases(
            self.scores,
            rows.x,
            rows.available(),
            rows.columns,
            lengths.sort(descending=True).values,
            temperature=temperature,
            generator=self.generator,
        )
        known = observe(rows, mask, self.sampler)
        bought = cross_entropy(
            self.net(known.x, known.mask).unsqueeze(0), rows.target, known.weight
        )[0]
        replayed = subset_loss(self.net, rows, self.sampler.sample(len(rows)), self.sampler)
        return bought + replayed + (mask @ self.price).mean()

    def fit(self, train: Rows, validate: Validate, recipe: Recipe, progress: Progress) -> History:
        first, last = self.temperature

        def loss(rows: Rows, epoch: int) -> Tensor:
            return self.loss(rows, first + (last - first) * epoch / max(1, recipe.epochs - 1))

        return fit_masked(
            nn.ModuleList([self.net, self.scores]),
            train,
            loss,
            validate,
            recipe,
            stage="selector",
            generator=self.generator,
            progress=progress,
        )
