"""GDFS, greedy dynamic feature selection (Covert et al. 2023)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.methods.staged import StagedConfig, fit_predictor
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.predictors.mlp import MLPPredictor
from hyperdfs.selectors.mlp import MLPSelector
from hyperdfs.training.data import Rows
from hyperdfs.training.gdfs import Greedy
from hyperdfs.training.histories import policy_check
from hyperdfs.training.prices import extra_prices


class GDFSConfig(StagedConfig):
    """Configuration of GDFS; a round is one temperature."""

    min_lr: ClassVar[float] = 1e-5
    logit_scale: float = Field(1.0, gt=0)  # scores are divided by this
    temperature: tuple[float, float] = (2.0, 0.2)  # first and last round
    rounds: int = Field(5, ge=1)
    cost_weight: float = Field(1.0, ge=0)


AUTHORS: dict[str, Any] = {
    "preprocessing": "paper",
    "class_weight": None,
    "small_subsets": False,
    "round_epochs": 250,
    "weight_decay": 0.0,
    "batch_size": 128,
    "logit_scale": 0.2,
    "temperature": (1.0, 0.1),
}


def _net(shape: Shape, config: GDFSConfig, n_out: int) -> MaskedNet:
    return MaskedNet(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_out=n_out,
        hidden=config.hidden,
        dropout=config.dropout,
    )


def build(shape: Shape, config: GDFSConfig, members: int) -> Model:
    predictor = _net(shape, config, shape.n_classes)
    selector = _net(shape, config, shape.n_features)
    return Model(
        MLPPredictor(predictor),
        MLPSelector(selector),
        {"predictor": predictor, "selector": selector},
    )


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    """The predictor on random subsets, then both networks along trajectories."""
    config: GDFSConfig = job.config
    generator = job.generator()
    model = job.untrained(build)
    predictor, selector = model.modules["predictor"], model.modules["selector"]
    assert isinstance(predictor, MaskedNet)
    assert isinstance(selector, MaskedNet)
    sampler, model.history = fit_predictor(predictor, job, train, valid, generator)
    price = extra_prices(job.costs, config.cost_weight, train, job.max_budget)
    greedy = Greedy(
        predictor, selector, sampler, job.max_budget, price, config.logit_scale, generator
    )
    model.history += greedy.fit(
        train,
        policy_check(model.predictor, model.selector, valid, job.max_budget, price),
        config.recipe(config.round_epochs),
        np.geomspace(*config.temperature, config.rounds).tolist(),
        job.progress,
    )
    return model


GDFS = Method(
    "gdfs",
    "GDFS: greedy dynamic feature selection",
    build,
    fit,
    config=GDFSConfig,
    presets={"default": {}, "authors": AUTHORS},
    family="single model",
)
