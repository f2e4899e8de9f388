"""AACO, the acquisition-conditioned oracle (Valancius et al. 2024): plans from nearest rows."""

from __future__ import annotations

from typing import Any

import torch
from pydantic import Field

from hyperdfs.config import TableConfig
from hyperdfs.masks import rate_uniform, sizes_up_to
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.predictors.mlp import MLPPredictor
from hyperdfs.selectors.aaco import AACOSelector
from hyperdfs.training.aaco import NAMES, draw_plans, keep_rows
from hyperdfs.training.data import Rows, joined
from hyperdfs.training.masked import Recipe, fit_masked_classifier
from hyperdfs.training.prices import relative_costs


class AACOConfig(TableConfig):
    """Configuration of AACO."""

    hidden: tuple[int, ...] = (128, 128)
    dropout: float = Field(0.3, ge=0, lt=1)
    small_subsets: bool = True  # half of the random subsets have at most B_max features
    epochs: int = Field(100, ge=1)
    lr: float = Field(2e-3, gt=0)
    weight_decay: float = Field(1e-4, ge=0)
    batch_size: int | None = Field(None, ge=1)
    patience: int = Field(20, ge=1)

    neighbours: int = Field(20, ge=1)
    plans: int = Field(100, ge=0)  # of more than one purchase
    price: float = Field(0.02, ge=0)  # of a purchase, in nats


AUTHORS: dict[str, Any] = {
    "preprocessing": "paper",
    "class_weight": None,
    "small_subsets": False,
    "lr": 1e-3,
    "weight_decay": 0.0,
    "batch_size": 128,
    "price": 0.05,
    "plans": 1000,
}


def build(shape: Shape, config: AACOConfig, members: int) -> Model:
    net = MaskedNet(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_out=shape.n_classes,
        hidden=config.hidden,
        dropout=config.dropout,
    )
    fitted = Arrays(*NAMES)
    groups = torch.tensor(shape.column_group)
    selector = AACOSelector(net, fitted, groups, neighbours=config.neighbours)
    return Model(MLPPredictor(net), selector, {"predictor": net, "fitted": fitted})


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    """A predictor for any subset; the policy is the rows themselves."""
    config, shape = job.config, job.shape
    generator = job.generator()
    model = job.untrained(build)
    net, fitted = model.modules["predictor"], model.modules["fitted"]
    assert isinstance(fitted, Arrays)
    draw = sizes_up_to(job.max_budget) if config.small_subsets else rate_uniform
    sampler = job.sampler(generator, draw)
    recipe = Recipe(
        epochs=config.epochs,
        lr=config.lr,
        batch_size=config.batch_size,
        patience=config.patience,
        weight_decay=config.weight_decay,
        schedule="plateau",
    )
    model.history = fit_masked_classifier(
        net, train, valid, sampler, recipe, generator=generator, progress=job.progress
    )
    keep_rows(fitted, joined(train, valid), torch.tensor(shape.column_group), generator)
    plans = draw_plans(shape.n_features, job.max_budget, config.plans, generator)
    price = config.price * relative_costs(job.costs)
    fitted.set("plans", plans.to(job.device))
    fitted.set("horizon", torch.tensor(job.max_budget, device=job.device))
    fitted.set("price", torch.tensor(price, dtype=torch.float32, device=job.device))
    return model


AACO = Method(
    "aaco",
    "AACO: plans from the nearest training rows",
    build,
    fit,
    config=AACOConfig,
    presets={"default": {}, "authors": AUTHORS},
    family="multi-model",
)
