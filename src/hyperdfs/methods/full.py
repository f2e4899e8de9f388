"""Control: what a classifier makes of the whole row, whatever the budget. No purchase beats it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from hyperdfs.masks import MaskSampler
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.methods.static_mlp import MaskedConfig, build_net
from hyperdfs.methods.static_trees import best_rounds
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.trees import Booster, Forest
from hyperdfs.predictors.mlp import MLPPredictor
from hyperdfs.predictors.trees import TreesPredictor
from hyperdfs.predictors.whole_row import WholeRowPredictor
from hyperdfs.selectors.fixed import StaticSelector
from hyperdfs.training.boosting import Growth, fit_booster, shares, to_table
from hyperdfs.training.data import Rows
from hyperdfs.training.loop import History
from hyperdfs.training.losses import cross_entropy
from hyperdfs.training.masked import fit_masked, subset_loss

SHARES = (0.0, 0.5, 1.0)  # of the trees in the prediction; the validation rows choose


class FullConfig(MaskedConfig):
    """Configuration of `full`: the network of `static_mlp`, and boosted trees."""

    rounds: int = Field(200, ge=1)  # of boosting, at most


def build(shape: Shape, config: FullConfig, members: int) -> Model:
    net, forest, fitted = build_net(shape, config), Forest(), Arrays("share")
    predictor = WholeRowPredictor(
        MLPPredictor(net), TreesPredictor(forest, shape.columns()), fitted
    )
    modules = {"predictor": net, "forest": forest, "fitted": fitted}
    return Model(predictor, StaticSelector(range(shape.n_features)), modules)


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    model = job.untrained(build)
    generator = job.generator()
    sampler = job.sampler(generator)
    model.history = _fit_net(job, model, train, valid, sampler, generator)
    forest, fitted = model.modules["forest"], model.modules["fitted"]
    assert isinstance(forest, Forest)
    assert isinstance(fitted, Arrays)
    job.progress("trees", 0, 1)
    forest.fill([_grow(job, train, sampler)])
    model.to(job.device)
    fitted.set("share", torch.tensor(0.0 if job.shape.pixels else _best_share(model, valid)))
    job.progress("trees", 1, 1)
    return model.to(job.device)


def _fit_net(
    job: Job,
    model: Model,
    train: Rows,
    valid: Rows,
    sampler: MaskSampler,
    generator: torch.Generator,
) -> History:
    net, config = model.modules["predictor"], job.config

    def loss(batch: Rows) -> Tensor:
        return subset_loss(net, batch, batch.available(), sampler)

    return fit_masked(
        net,
        train,
        lambda batch, epoch: loss(batch),
        lambda: float(loss(valid)),
        config.recipe(config.epochs, config.lr),
        stage="predictor",
        generator=generator,
        progress=job.progress,
    )


def _grow(job: Job, train: Rows, sampler: MaskSampler) -> Booster:
    """Trees on all columns, the number of rounds by cross-validation; none for pixels."""
    table, n_classes = to_table(train, train.available(), sampler), job.shape.n_classes
    if job.shape.pixels:
        return shares(table, n_classes)
    columns = np.arange(job.shape.n_columns)
    growth = replace(Growth.for_rows(len(table), len(columns)), rounds=job.config.rounds)
    growth = replace(growth, rounds=best_rounds(job, table, columns, growth))
    return fit_booster(table, columns, growth, n_classes, job.seed)


def _best_share(model: Model, valid: Rows) -> float:
    predictor = model.predictor
    assert isinstance(predictor, WholeRowPredictor)
    known = valid.available()
    x = valid.x * valid.columns.expand(known)
    net, trees = predictor.net.proba(x, known), predictor.trees.proba(x, known)
    opinions = torch.stack([(1.0 - share) * net + share * trees for share in SHARES])
    losses = cross_entropy(opinions.clamp_min(1e-6).log(), valid.target, valid.weight)
    return SHARES[int(losses.argmin())]


FULL = Method(
    "full",
    "A classifier of all features, bought or not",
    build,
    fit,
    config=FullConfig,
    presets={"default": {}},
    family="control",
    ranked=False,
)
