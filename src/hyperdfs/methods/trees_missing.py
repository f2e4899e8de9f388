"""Control: one boosted model that takes unknown values as they are, and a greedy selector."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from hyperdfs.masks import MaskSampler, sizes_up_to
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.methods.static_trees import TreesConfig, grow
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.nn.trees import Forest
from hyperdfs.predictors.trees import TreesPredictor
from hyperdfs.selectors.priced import PricedSelector
from hyperdfs.training.boosting import feature_gains
from hyperdfs.training.data import Rows, joined, stacked
from hyperdfs.training.loop import History
from hyperdfs.training.masked import Recipe, fit_masked
from hyperdfs.training.prices import relative_costs
from hyperdfs.training.values import likely_subsets, purchase_gains, value_loss

MOST_CANDIDATES = 32
MOST_WORK = 30_000_000  # rows times trees, to find what purchases are worth
FEWEST_SAMPLES = 200


class TreesMissingConfig(TreesConfig):
    """Configuration of `trees_missing`."""

    samples: int = Field(20_000, ge=2)  # purchases from which the value network learns, at most
    hidden: tuple[int, ...] = (128, 128)
    lr: float = Field(1e-3, gt=0)
    weight_decay: float = Field(1e-4, ge=0)
    epochs: int = Field(40, ge=1)
    patience: int = Field(8, ge=1)


def build(shape: Shape, config: TreesMissingConfig, members: int) -> Model:
    net = MaskedNet(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_out=shape.n_features,
        hidden=config.hidden,
    )
    forest, fitted = Forest(), Arrays("cost", "rank")
    return Model(
        TreesPredictor(forest, shape.columns()),
        PricedSelector(net, fitted),
        {"forest": forest, "value": net, "fitted": fitted},
    )


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    """Trees on rows with random cells hidden; then a network that foresees their gains."""
    model = job.untrained(build)
    generator = job.generator()
    sampler = job.sampler(generator, sizes_up_to(job.max_budget))
    booster = grow(job, train, valid, sampler)
    forest, fitted = model.modules["forest"], model.modules["fitted"]
    assert isinstance(forest, Forest)
    assert isinstance(fitted, Arrays)
    forest.fill([booster])
    job.progress("trees", 1, 3)
    gains = feature_gains(booster, np.asarray(job.shape.column_group))
    ranking = np.argsort(-gains, kind="stable")
    rank = (torch.from_numpy(ranking).argsort() + 1 - MOST_CANDIDATES).clamp_min(0).float()
    fitted.set("cost", torch.tensor(relative_costs(job.costs), dtype=torch.float32))
    fitted.set("rank", rank)
    model.to(job.device)
    samples = _samples(job, joined(train, valid), gains, sampler, generator)
    model.history = _fit_values(job, model, samples, generator)
    return model


def _samples(
    job: Job,
    rows: Rows,
    gains: np.ndarray,
    sampler: MaskSampler,
    generator: torch.Generator,
) -> tuple[Rows, Rows]:
    """Purchases and what they are worth, each row judged by trees that were not grown on it.

    Two halves: the trees of one judge the other, and of each half's samples a part is kept apart
    to stop the training of the value network. The rows that are judged do say after how many
    rounds their judges stop: one number for all of them.
    """
    candidates = torch.from_numpy(np.argsort(-gains, kind="stable")[:MOST_CANDIDATES].copy())
    halves = torch.randperm(len(rows), generator=generator).chunk(2)
    judged = []
    for number, (own, other) in enumerate([halves, halves[::-1]]):
        forest = Forest()
        forest.fill([grow(job, rows.take(other), rows.take(own), sampler)])
        predictor = TreesPredictor(forest.to(job.device), rows.columns)
        trees = max(1, len(forest.get("root")))
        most = max(FEWEST_SAMPLES, MOST_WORK // (trees * len(candidates)))
        most = min(most, job.config.samples) // 2
        # Each row several times in a row, so that those kept apart are of other rows.
        chosen = own[torch.arange(most) * len(own) // most]
        masks = likely_subsets(len(chosen), gains, job.max_budget, generator)
        judged.append(purchase_gains(predictor, rows.take(chosen), masks, candidates, sampler))
        job.progress("trees", 2 + number, 3)
    cut = [round(0.85 * len(part)) for part in judged]
    fitted = [part.take(torch.arange(c)) for part, c in zip(judged, cut, strict=True)]
    kept = [part.take(torch.arange(c, len(part))) for part, c in zip(judged, cut, strict=True)]
    return stacked(*fitted), stacked(*kept)


def _fit_values(
    job: Job, model: Model, samples: tuple[Rows, Rows], generator: torch.Generator
) -> History:
    """Regress the gains, in units of their deviation; the network sets out from their means."""
    fitted, kept = samples
    known = fitted.target[~fitted.target.isnan()]
    if not len(known):
        return []
    scale = float(known.std(correction=0).clamp_min(1e-6))
    fitted = replace(fitted, target=fitted.target / scale)
    kept = replace(kept, target=kept.target / scale)
    net, config = model.modules["value"], job.config
    assert isinstance(net, MaskedNet)
    with torch.no_grad():
        net.head.bias.copy_(fitted.target.nanmean(0).nan_to_num())

    def loss(batch: Rows, epoch: int) -> Tensor:
        return value_loss(net(batch.x, batch.available()), batch.target, batch.weight)

    def validate() -> float:
        return float(value_loss(net(kept.x, kept.available()), kept.target, kept.weight))

    recipe = Recipe(
        epochs=config.epochs,
        lr=config.lr,
        batch_size=128,
        patience=config.patience,
        weight_decay=config.weight_decay,
        schedule="cosine",
    )
    return fit_masked(
        net,
        fitted,
        loss,
        validate,
        recipe,
        stage="values",
        generator=generator,
        progress=job.progress,
    )


TREES_MISSING = Method(
    "trees_missing",
    "Boosted trees on masked rows, greedy by foreseen gain",
    build,
    fit,
    config=TreesMissingConfig,
    presets={"default": {}},
    family="control",
)
