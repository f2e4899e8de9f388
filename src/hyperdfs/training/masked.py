"""The common loop of methods made of plain networks, and its use for a masked classifier.

A method brings a loss of a batch and a score of its own on the validation rows::

    def loss(batch: Rows, epoch: int) -> Tensor: ...  # a scalar with a gradient
    def validate() -> float: ...                      # lower is better

    history = fit_masked(module, train, loss, validate, Recipe(epochs=50), stage="predictor",
                         generator=generator, progress=job.progress)

`fit_masked_classifier` is that with cross-entropy on random subsets, and `observe` the step from
masks to what a network may see.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from hyperdfs.errors import HyperDFSError
from hyperdfs.masks import MaskSampler
from hyperdfs.nn.mlp import evaluating
from hyperdfs.training.data import Rows, shuffled_batches
from hyperdfs.training.loop import BestWeights, History, Progress, clip_gradients, warmup_cosine
from hyperdfs.training.losses import cross_entropy

Loss = Callable[[Rows, int], Tensor]  # batch, epoch -> scalar
Validate = Callable[[], float]  # lower is better
MOST_CHECKS = 32_000  # pairs of a validation row and a mask


@dataclass(frozen=True)
class Recipe:
    """The numbers of one training stage.

    batch_size : None for about 30 steps an epoch, between 32 and 512 rows.
    patience : epochs without a better validation score before the stage ends.
    schedule : "plateau" multiplies the learning rate by `plateau_factor` after `plateau_patience`
        epochs without a better score, down to `min_lr`; "cosine" lets it fall to a hundredth.
    """

    epochs: int = 100
    lr: float = 1e-3
    batch_size: int | None = None
    patience: int = 20
    weight_decay: float = 0.0
    clip: float = 5.0
    schedule: Literal["constant", "plateau", "cosine"] = "constant"
    plateau_factor: float = 0.2
    plateau_patience: int = 5
    min_lr: float = 1e-6
    amsgrad: bool = False

    def rows_per_batch(self, n: int) -> int:
        return self.batch_size or int(np.clip(2 ** round(math.log2(n / 30)), 32, 512))


class Observed(NamedTuple):
    """What a network may see of rows of which only subsets are known."""

    x: Tensor  # (n, D), zeros where unknown
    mask: Tensor  # (n, M)
    weight: Tensor  # (n,), 0 where the subset is withheld from training


def observe(rows: Rows, masks: Tensor, sampler: MaskSampler | None = None) -> Observed:
    """Rows as they look when only `masks` ``(n, M)`` is known; a missing cell never is.

    With a sampler that withholds subsets, rows that end up with one of these weigh nothing: a
    missing cell can turn an allowed subset into a withheld one, and so can a policy.
    """
    masks = masks.to(rows.x.device)
    if rows.observed is not None:
        masks = masks * rows.observed
    weight = rows.weight
    if sampler is not None and sampler.held_out:
        weight = weight * ~sampler.is_held_out(masks)
    return Observed(rows.x * rows.columns.expand(masks), masks, weight)


def subset_loss(
    net: nn.Module, rows: Rows, masks: Tensor, sampler: MaskSampler | None = None
) -> Tensor:
    """Weighted cross-entropy of ``net(x̃, mask) -> logits`` against the soft targets; a scalar."""
    known = observe(rows, masks, sampler)
    return cross_entropy(net(known.x, known.mask).unsqueeze(0), rows.target, known.weight)[0]


def fit_masked(
    module: nn.Module,
    train: Rows,
    loss: Loss,
    validate: Validate,
    recipe: Recipe,
    *,
    stage: str,
    generator: torch.Generator,
    progress: Progress,
    keep_start: bool = False,
) -> History:
    """Train `module` by Adam on shuffled batches and leave it at its best epoch, in eval mode.

    Networks are in training mode inside `loss` and in evaluation mode, without gradients, inside
    `validate`. Dropout draws from torch's global generator, which is seeded from `generator` here
    and afterwards as it was before. `stage` names the history rows and the progress bar. With
    `keep_start`, the weights it starts with count too: a later stage then never does harm.
    """
    cuda = [train.x.device] if train.x.is_cuda else []
    with torch.random.fork_rng(devices=cuda):
        torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
        return _fit(module, train, loss, validate, recipe, stage, generator, progress, keep_start)


def _fit(
    module: nn.Module,
    train: Rows,
    loss: Loss,
    validate: Validate,
    recipe: Recipe,
    stage: str,
    generator: torch.Generator,
    progress: Progress,
    keep_start: bool,
) -> History:
    parameters = [p for p in module.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(
        parameters, lr=recipe.lr, weight_decay=recipe.weight_decay, amsgrad=recipe.amsgrad
    )
    size = recipe.rows_per_batch(len(train))
    best = BestWeights(module, 1, recipe.patience)
    rate = _Rate(recipe)
    if keep_start:
        with evaluating(module), torch.no_grad():
            score = validate()
        best.update(torch.tensor([score]))
        rate.note(score)
    history: History = []
    for epoch in range(recipe.epochs):
        for group in optimizer.param_groups:
            group["lr"] = rate.value(epoch)
        module.train()
        total, seen = 0.0, 0
        # Pairs of rows, because batch norm cannot do with one.
        for index in shuffled_batches(len(train), size, multiple=2, generator=generator):
            step = loss(train.take(index), epoch)
            if not torch.isfinite(step):
                raise HyperDFSError(
                    f"The loss must stay finite, it became {float(step.detach())} in epoch "
                    f"{epoch} of stage {stage!r}; set a smaller learning rate or look for extreme "
                    "values."
                )
            optimizer.zero_grad(set_to_none=True)
            step.backward()
            clip_gradients(parameters, recipe.clip, per_member=False)
            optimizer.step()
            total, seen = total + float(step.detach()) * len(index), seen + len(index)
        with evaluating(module), torch.no_grad():
            score = validate()
        stop = best.update(torch.tensor([score]).nan_to_num(nan=math.inf))
        rate.note(score)
        history.append(
            {"stage": stage, "epoch": epoch, "train_loss": total / seen, "valid_loss": score}
        )
        progress(stage, epoch + 1, recipe.epochs)
        if stop:
            break
    progress(stage, recipe.epochs, recipe.epochs)
    best.restore()
    module.eval()
    return history


class _Rate:
    """The learning rate of each epoch."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe, self._factor = recipe, 1.0
        self._best, self._age = math.inf, 0

    def value(self, epoch: int) -> float:
        recipe = self._recipe
        if recipe.schedule == "cosine":
            return recipe.lr * warmup_cosine(epoch, warmup=0, total=recipe.epochs)
        return max(recipe.lr * self._factor, min(recipe.lr, recipe.min_lr))

    def note(self, score: float) -> None:
        if self._recipe.schedule != "plateau":
            return
        if score < self._best:
            self._best, self._age = score, 0
            return
        self._age += 1
        if self._age > self._recipe.plateau_patience:
            self._factor, self._age = self._factor * self._recipe.plateau_factor, 0


def subset_check(net: nn.Module, valid: Rows, sampler: MaskSampler) -> Validate:
    """A `validate`: cross-entropy of `valid` on random subsets drawn once, here.

    Fresh subsets in each epoch would make early stopping react to them.
    """
    copies = max(1, min(32, MOST_CHECKS // len(valid)))
    masks = [sampler.sample(len(valid)) for _ in range(copies)]

    def validate() -> float:
        return float(torch.stack([subset_loss(net, valid, mask, sampler) for mask in masks]).mean())

    return validate


def fit_masked_classifier(
    net: nn.Module,
    train: Rows,
    valid: Rows,
    sampler: MaskSampler,
    recipe: Recipe,
    *,
    generator: torch.Generator,
    progress: Progress,
    stage: str = "predictor",
) -> History:
    """Train ``net(x̃, mask) -> logits`` to predict from random subsets, one per row and epoch.

    Several networks of an ensemble: one call each, with a generator of its own.
    """

    def loss(batch: Rows, epoch: int) -> Tensor:
        return subset_loss(net, batch, sampler.sample(len(batch)), sampler)

    validate = subset_check(net, valid, sampler)
    return fit_masked(
        net, train, loss, validate, recipe, stage=stage, generator=generator, progress=progress
    )
