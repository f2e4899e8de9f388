"""Controls with a masked MLP: one order for everybody, and a random order for each case."""

from __future__ import annotations

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from hyperdfs.config import TableConfig
from hyperdfs.masks import sizes_up_to
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.predictors.mlp import MLPPredictor
from hyperdfs.selectors.static import FittedOrderSelector, FittedRandomSelector
from hyperdfs.training.data import Rows
from hyperdfs.training.loop import History
from hyperdfs.training.masked import (
    Recipe,
    fit_masked,
    fit_masked_classifier,
    subset_check,
    subset_loss,
)
from hyperdfs.training.orders import complete, forward_order, rows_to_choose, subset_losses, worth


class MaskedConfig(TableConfig):
    """Configuration of `static_mlp` and `random_mlp`."""

    hidden: tuple[int, ...] = (128, 128)
    dropout: float = Field(0.1, ge=0, lt=1)
    lr: float = Field(2e-3, gt=0)
    weight_decay: float = Field(1e-4, ge=0)
    batch_size: int | None = Field(None, ge=2)  # None: about 30 steps an epoch
    epochs: int = Field(100, ge=1)
    patience: int = Field(20, ge=1)
    tuning_epochs: int = Field(40, ge=1)  # of static_mlp, once the order is known

    def recipe(self, epochs: int, lr: float) -> Recipe:
        return Recipe(
            epochs=epochs,
            lr=lr,
            batch_size=self.batch_size,
            patience=self.patience,
            weight_decay=self.weight_decay,
            schedule="cosine",
        )


def build_net(shape: Shape, config: MaskedConfig) -> MaskedNet:
    return MaskedNet(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_out=shape.n_classes,
        hidden=config.hidden,
        dropout=config.dropout,
    )


def build_static(shape: Shape, config: MaskedConfig, members: int) -> Model:
    net, fitted = build_net(shape, config), Arrays("order")
    modules = {"predictor": net, "fitted": fitted}
    return Model(MLPPredictor(net), FittedOrderSelector(fitted), modules)


def build_random(shape: Shape, config: MaskedConfig, members: int) -> Model:
    net, fitted = build_net(shape, config), Arrays("seed")
    modules = {"predictor": net, "fitted": fitted}
    return Model(MLPPredictor(net), FittedRandomSelector(fitted), modules)


def _fit_predictor(
    job: Job, model: Model, train: Rows, valid: Rows, generator: torch.Generator
) -> History:
    """Random subsets, half of them no larger than the budget."""
    draw = sizes_up_to(job.max_budget)
    sampler = job.sampler(generator, draw)
    config: MaskedConfig = job.config
    return fit_masked_classifier(
        model.modules["predictor"],
        train,
        valid,
        sampler,
        config.recipe(config.epochs, config.lr),
        generator=generator,
        progress=job.progress,
    )


def fit_random(job: Job, train: Rows, valid: Rows) -> Model:
    model = job.untrained(build_random)
    fitted = model.modules["fitted"]
    assert isinstance(fitted, Arrays)
    fitted.set("seed", torch.tensor(job.seed))
    model.history = _fit_predictor(job, model, train, valid, job.generator())
    return model


def fit_static(job: Job, train: Rows, valid: Rows) -> Model:
    """The predictor on random subsets, the order by forward selection, then the predictor again.

    The last stage sees the subsets that will occur, the beginnings of the order, and random ones
    as often, so that any other subset still gets a sensible answer.
    """
    model = job.untrained(build_static)
    generator = job.generator()
    history = _fit_predictor(job, model, train, valid, generator)
    order = _find_order(job, model, train, valid, generator)
    fitted = model.modules["fitted"]
    assert isinstance(fitted, Arrays)
    fitted.set("order", torch.tensor(order, device=job.device))
    model.history = history + _tune(job, model, order, train, valid, generator)
    return model


def _find_order(
    job: Job, model: Model, train: Rows, valid: Rows, generator: torch.Generator
) -> list[int]:
    """Forward selection by what the predictor makes of each subset."""
    losses = subset_losses(model.predictor, rows_to_choose(train, valid), generator)
    everything = range(job.shape.n_features)
    order = forward_order(
        losses,
        everything,
        job.max_budget,
        job.costs,
        lookahead=True,
        step_done=lambda done: job.progress("order", done, job.max_budget),
    )
    alone = losses([[]]) - losses([[j] for j in everything])
    return complete(order, np.argsort(-worth(alone, job.costs), kind="stable").tolist())


def _tune(
    job: Job, model: Model, order: list[int], train: Rows, valid: Rows, generator: torch.Generator
) -> History:
    net, config = model.modules["predictor"], job.config
    steps = torch.tensor(order).argsort()  # when each feature is bought
    anything = sizes_up_to(job.max_budget)

    def draw(n: int, n_features: int, generator: torch.Generator) -> Tensor:
        masks = anything(n, n_features, generator)
        length = torch.randint(job.max_budget + 1, (n, 1), generator=generator)
        follow = torch.rand(n, 1, generator=generator) < 0.5
        return torch.where(follow, (steps < length).float(), masks)

    sampler = job.sampler(generator, draw)

    def loss(batch: Rows, epoch: int) -> Tensor:
        return subset_loss(net, batch, sampler.sample(len(batch)), sampler)

    return fit_masked(
        net,
        train,
        loss,
        subset_check(net, valid, sampler),
        config.recipe(config.tuning_epochs, config.lr / 2),
        stage="tuning",
        generator=generator,
        progress=job.progress,
        keep_start=True,
    )


MASKED_METHODS = [
    Method(
        "static_mlp",
        "One order for all by forward selection, masked MLP",
        build_static,
        fit_static,
        config=MaskedConfig,
        presets={"default": {}},
        family="control",
    ),
    Method(
        "random_mlp",
        "Masked MLP under a random order",
        build_random,
        fit_random,
        config=MaskedConfig,
        presets={"default": {}},
        family="control",
    ),
]
