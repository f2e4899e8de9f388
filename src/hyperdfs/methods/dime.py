"""DIME, discriminative estimation of conditional mutual information (Gadgil et al. 2024)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.methods.staged import StagedConfig, fit_predictor
from hyperdfs.nn.value import ValueNet
from hyperdfs.predictors.mlp import MLPPredictor
from hyperdfs.selectors.value import ValueSelector
from hyperdfs.training.data import Rows
from hyperdfs.training.dime import ValueSteps
from hyperdfs.training.histories import policy_check
from hyperdfs.training.prices import relative_costs

CHEAPEST = 1e-3  # of the mean cost: what is free is bought first, but in the order of its value


class DIMEConfig(StagedConfig):
    """Configuration of DIME; a round is one rate of exploration."""

    hidden: tuple[int, ...] = Field((128, 128), min_length=1)
    explore: float = Field(0.05, ge=0, le=1)  # share of random purchases in the first round
    explore_decay: float = Field(0.2, ge=0, le=1)  # from round to round
    rounds: int = Field(4, ge=1)


AUTHORS: dict[str, Any] = {
    "preprocessing": "paper",
    "class_weight": None,
    "small_subsets": False,
    "predictor_epochs": 200,
    "weight_decay": 0.0,
    "batch_size": 128,
    "rounds": 11,
}


def build(shape: Shape, config: DIMEConfig, members: int) -> Model:
    net = ValueNet(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_classes=shape.n_classes,
        hidden=config.hidden,
        dropout=config.dropout,
    )
    return Model(MLPPredictor(net), ValueSelector(net), {"model": net})


def prices(costs: np.ndarray) -> Tensor:
    """Relative costs, for a gain per unit of cost; all 1 when all are equal."""
    return torch.tensor(np.maximum(relative_costs(costs), CHEAPEST), dtype=torch.float32)


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    """The predictor on random subsets, then predictor and values along trajectories."""
    config: DIMEConfig = job.config
    generator = job.generator()
    model = job.untrained(build)
    net = model.modules["model"]
    assert isinstance(net, ValueNet)
    net.price.copy_(prices(job.costs))
    sampler, model.history = fit_predictor(net, job, train, valid, generator)
    no_price = torch.zeros(job.shape.n_features, device=job.device)
    steps = ValueSteps(net, sampler, job.max_budget, generator)
    model.history += steps.fit(
        train,
        policy_check(model.predictor, model.selector, valid, job.max_budget, no_price),
        config.recipe(config.round_epochs),
        [config.explore * config.explore_decay**number for number in range(config.rounds)],
        job.progress,
    )
    return model


DIME = Method(
    "dime",
    "DIME: values that estimate conditional mutual information",
    build,
    fit,
    config=DIMEConfig,
    presets={"default": {}, "authors": AUTHORS},
    family="single model",
)
