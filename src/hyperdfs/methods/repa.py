"""RePa, subset reparametrisation of a trained classifier (Fumanal-Idocin et al. 2025)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from pydantic import Field

from hyperdfs.config import TableConfig
from hyperdfs.masks import cardinality_uniform, sizes_up_to
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.nn.repa import Change, RepaNet
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.predictors.mlp import MLPPredictor
from hyperdfs.selectors.learned import LearnedSelector
from hyperdfs.training.data import Rows
from hyperdfs.training.histories import policy_check
from hyperdfs.training.masked import Recipe, fit_masked_classifier
from hyperdfs.training.orders import forward_order, subset_losses, worth
from hyperdfs.training.prices import extra_prices, relative_costs
from hyperdfs.training.repa import PolicySteps, anchor, fit_base, with_global_opinion
from hyperdfs.training.start_order import start_from

MOST_CANDIDATES = 50  # of the order that the selector starts from


class RepaConfig(TableConfig):
    """Configuration of RePa."""

    hidden: tuple[int, ...] = Field((64, 32), min_length=1)
    code_width: int = Field(64, ge=1)
    change: Change = "additive"
    rank: int = Field(4, ge=1)  # of change "low_rank"
    selector_hidden: tuple[int, ...] = (128, 128)
    small_subsets: bool = True  # half of the random subsets have at most B_max features
    start_order: bool = True  # the selector sets out from a good order for everybody
    base_epochs: int = Field(100, ge=1)
    base_patience: int = Field(10, ge=1)
    subset_epochs: int = Field(100, ge=1)
    subset_patience: int = Field(20, ge=1)
    selector_epochs: int = Field(50, ge=1)
    selector_patience: int = Field(15, ge=1)
    lr: float = Field(3e-3, gt=0)
    weight_decay: float = Field(1e-4, ge=0)
    batch_size: int | None = Field(None, ge=1)
    temperature: tuple[float, float] = (1.0, 0.2)  # Gumbel softmax, first and last epoch
    global_weight: float = Field(0.5, ge=0, le=1)  # of the base's opinion of the complete row
    cost_weight: float = Field(1.0, ge=0)


AUTHORS: dict[str, Any] = {
    "preprocessing": "paper",
    "class_weight": None,
    "small_subsets": False,
    "start_order": False,
    "subset_epochs": 200,
    "selector_epochs": 100,
    "lr": 1e-3,
    "batch_size": 128,
}


def build(shape: Shape, config: RepaConfig, members: int) -> Model:
    net = RepaNet(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_classes=shape.n_classes,
        hidden=config.hidden,
        code_width=config.code_width,
        change=config.change,
        rank=config.rank,
    )
    scores = ScoreNet(
        n_columns=shape.n_columns, n_features=shape.n_features, hidden=config.selector_hidden
    )
    return Model(MLPPredictor(net), LearnedSelector(scores), {"predictor": net, "selector": scores})


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    """Base on complete rows, changes on random subsets, then selector and changes jointly."""
    config: RepaConfig = job.config
    generator = job.generator()
    model = job.untrained(build)
    net, scores = model.modules["predictor"], model.modules["selector"]
    assert isinstance(net, RepaNet)
    assert isinstance(scores, ScoreNet)
    model.history = fit_base(
        net,
        train,
        valid,
        _recipe(config, config.base_epochs, config.base_patience),
        generator=generator,
        progress=job.progress,
    )
    taught = with_global_opinion(net, train, config.global_weight)
    anchor(net)
    draw = sizes_up_to(job.max_budget) if config.small_subsets else cardinality_uniform
    sampler = job.sampler(generator, draw)
    model.history += fit_masked_classifier(
        net,
        train,
        valid,
        sampler,
        _recipe(config, config.subset_epochs, config.subset_patience),
        generator=generator,
        progress=job.progress,
    )
    if config.start_order:
        start_from(scores, _find_order(job, model, train, generator))
    price = extra_prices(job.costs, config.cost_weight, train, job.max_budget)
    steps = PolicySteps(net, scores, sampler, job.max_budget, price, config.temperature, generator)
    check = policy_check(
        model.predictor, model.selector, valid, job.max_budget, price, cumulative=True
    )
    model.history += steps.fit(
        taught,
        check,
        _recipe(config, config.selector_epochs, config.selector_patience),
        job.progress,
    )
    return model


def _find_order(job: Job, model: Model, train: Rows, generator: torch.Generator) -> list[int]:
    """Forward selection, on wide tables among the features that are worth most by themselves."""
    losses = subset_losses(model.predictor, train, generator)
    candidates = list(range(job.shape.n_features))
    if len(candidates) > MOST_CANDIDATES:
        alone = losses([[]]) - losses([[j] for j in candidates])
        ranking = np.argsort(-worth(alone, relative_costs(job.costs)), kind="stable")
        candidates = sorted(ranking[: max(MOST_CANDIDATES, job.max_budget)].tolist())
    return forward_order(losses, candidates, job.max_budget, job.costs, lookahead=True)


def _recipe(config: RepaConfig, epochs: int, patience: int) -> Recipe:
    return Recipe(
        epochs=epochs,
        lr=config.lr,
        batch_size=config.batch_size,
        patience=patience,
        weight_decay=config.weight_decay,
    )


REPA = Method(
    "repa",
    "RePa: a classifier reparametrised for each subset",
    build,
    fit,
    config=RepaConfig,
    presets={"default": {}, "authors": AUTHORS},
    family="single model",
)
