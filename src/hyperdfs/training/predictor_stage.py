"""Stage 1: the predictor learns from random subsets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from hyperdfs.config import HyperConfig, MaskBudget
from hyperdfs.masks import MaskSampler
from hyperdfs.nn.hyper import HyperNet, Output, SubsetNet
from hyperdfs.training.data import Rows, shuffled_batches
from hyperdfs.training.loop import BestWeights, History, Progress, RunningMean, Trainer
from hyperdfs.training.losses import collapse_loss, cross_entropy, scale_loss
from hyperdfs.training.row_logits import subset_logits


def distinct_masks(budget: MaskBudget, n: int) -> int:
    """K for a batch of n rows."""
    if budget is None:
        return n
    return max(1, n // 4) if budget == "quarter" else min(budget, n)


def batch_multiple(budget: MaskBudget, n: int) -> int:
    """What the length of a batch must be a multiple of, so that all masks have as many rows."""
    if budget is None:
        return 1
    return 4 if budget == "quarter" else min(budget, n)


@dataclass
class Subsets:
    """Random subsets of a batch, K distinct masks where possible.

    A missing cell cannot be in the subset. Rows with missing cells therefore have masks of their
    own, and the K masks are shared only when the table is complete.
    """

    rows: Rows
    masks: Tensor  # (E, K, M), each for n / K rows, or (E, n, M)
    weight: Tensor  # of the rows, (n,) or (E, n); 0 where the subset is withheld

    @classmethod
    def draw(
        cls, members: int, rows: Rows, sampler: MaskSampler, masks_per_batch: MaskBudget
    ) -> Subsets:
        n = len(rows)
        k = distinct_masks(masks_per_batch, n)
        masks = sampler.sample(members * k).view(members, k, -1).to(rows.x.device)
        if rows.observed is None:
            return cls(rows, masks, rows.weight)
        masks = masks.repeat_interleave(n // k, dim=1) * rows.observed
        weight = rows.weight
        if sampler.held_out:  # missing cells can turn a mask into one that is withheld
            weight = weight * ~sampler.is_held_out(masks.flatten(0, 1)).view(members, n)
        return cls(rows, masks, weight)

    def loss(self, net: SubsetNet, condition: Tensor, code: Tensor) -> tuple[Tensor, Output]:
        """Cross-entropy per member, given what `net` makes of the masks."""
        rows, n, k = self.rows, len(self.rows), self.masks.shape[1]
        known = rows.columns.expand(self.masks)
        if k == n:
            out = net.rows(rows.x * known, condition, code)
            return cross_entropy(out.logits, rows.target, self.weight), out
        shape = (k, n // k)
        out = net.groups(rows.x.view(1, *shape, -1) * known.unsqueeze(2), condition, code)
        target, weight = rows.target.view(*shape, -1), self.weight.view(shape)
        return cross_entropy(out.logits, target, weight), out


@dataclass
class FixedMasks:
    """Validation on subsets drawn once: fresh masks would make early stopping react to them."""

    rows: Rows
    masks: Tensor  # (n_masks, M)

    @torch.inference_mode()
    def loss(self, net: SubsetNet) -> Tensor:
        """Mean cross-entropy per member, (E,)."""
        logits = subset_logits(net, self.rows, self.masks)
        return cross_entropy(logits, self.rows.target, self.rows.weight)


def fit_predictor(
    net: SubsetNet,
    train: Rows,
    valid: Rows,
    config: HyperConfig,
    *,
    sampler: MaskSampler,
    batch_size: int,
    learning_rate: float,
    generator: torch.Generator,
    progress: Progress,
    give_up: Callable[[History], bool] = lambda history: False,
) -> History:
    """Train every member, each to its own best epoch on fixed validation masks."""
    multiple = batch_multiple(config.masks_per_batch, len(train))
    steps = max(1, round(len(train) / batch_size))
    trainer = Trainer(
        [(net, learning_rate, True)],
        weight_decay=config.weight_decay,
        clip=config.clip,
        warmup_steps=config.stage1_warmup * steps,
        total_steps=config.stage1_epochs * steps,
    )
    mean = RunningMean(net, config.average_epochs * steps)
    check = FixedMasks(valid, sampler.sample(32).to(valid.x.device))
    best = BestWeights(net, net.members, config.stage1_patience)
    history: History = []
    for epoch in range(config.stage1_epochs):
        scale = config.scale_weight * max(0.0, 1.0 - epoch / config.scale_epochs)
        total, seen = 0.0, 0
        for index in shuffled_batches(
            len(train), batch_size, multiple=multiple, generator=generator
        ):
            rows = train.take(index)
            subsets = Subsets.draw(net.members, rows, sampler, config.masks_per_batch)
            noise = net.noise(subsets.masks.shape[1], config.noise, generator)
            loss, out = subsets.loss(net, *net.encode(subsets.masks, noise))
            total, seen = total + float(loss.detach().mean()) * len(index), seen + len(index)
            if isinstance(net, HyperNet):
                if scale:
                    loss = loss + scale * scale_loss(net, out.code)
                if config.collapse_weight:
                    loss = loss + config.collapse_weight * collapse_loss(net, out)
            trainer.step(loss.sum())
            mean.update()
        with mean.applied():
            score = check.loss(net)
            stop = best.update(torch.nan_to_num(score, nan=math.inf))
        history.append(
            {
                "stage": 1,
                "epoch": epoch,
                "train_loss": total / seen,
                "valid_loss": float(score.mean()),
            }
        )
        progress("predictor", epoch + 1, config.stage1_epochs)
        if stop or give_up(history):
            break
    progress("predictor", config.stage1_epochs, config.stage1_epochs)
    best.restore()
    return history
