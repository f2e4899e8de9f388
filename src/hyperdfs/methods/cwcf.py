"""CWCF, classification with costly features by reinforcement learning (Janisch et al. 2019)."""

from __future__ import annotations

from typing import Any

import torch

from hyperdfs.masks import MaskSampler
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.nn.dueling import DuelingNet
from hyperdfs.predictors.cwcf import ClassActions
from hyperdfs.selectors.cwcf import FeatureActions
from hyperdfs.training.cwcf import CwcfConfig, QLearning, mostly_few, subset_class_loss
from hyperdfs.training.data import Rows
from hyperdfs.training.histories import policy_check
from hyperdfs.training.masked import Recipe, fit_masked
from hyperdfs.training.prices import relative_costs


def build(shape: Shape, config: CwcfConfig, members: int) -> Model:
    net = DuelingNet(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_classes=shape.n_classes,
        hidden=config.hidden,
    )
    return Model(ClassActions(net), FeatureActions(net), {"net": net})


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    """The class actions on random subsets, then all actions by reinforcement."""
    config: CwcfConfig = job.config
    generator = job.generator()
    model = job.untrained(build)
    net = model.modules["net"]
    assert isinstance(net, DuelingNet)
    sampler = job.sampler(generator, mostly_few)
    model.history = pretrain(net, train, valid, config, sampler, generator, job)
    price = torch.tensor(
        config.price * relative_costs(job.costs), dtype=torch.float32, device=job.device
    )
    learning = QLearning(net, train, config, price, job.max_budget, sampler, generator)
    extra = price - price.mean()  # all features being equal, a budget costs what it costs
    check = policy_check(
        model.predictor, model.selector, valid, job.max_budget, extra, cumulative=True
    )
    model.history += learning.fit(check, job.progress)
    return model


def pretrain(
    net: DuelingNet,
    train: Rows,
    valid: Rows,
    config: CwcfConfig,
    sampler: MaskSampler,
    generator: torch.Generator,
    job: Job,
) -> list[dict[str, Any]]:
    """Regress the class actions on their known rewards."""
    fixed = [sampler.sample(len(valid)) for _ in range(max(1, min(16, 16_000 // len(valid))))]

    def validate() -> float:
        losses = [subset_class_loss(net, valid, masks, sampler) for masks in fixed]
        return float(torch.stack(losses).mean())

    return fit_masked(
        net,
        train,
        lambda rows, epoch: subset_class_loss(net, rows, sampler.sample(len(rows)), sampler),
        validate,
        Recipe(
            epochs=config.pretrain_epochs,
            lr=config.pretrain_lr,
            batch_size=config.batch_size,
            patience=config.pretrain_patience,
            weight_decay=config.weight_decay,
        ),
        stage="classes",
        generator=generator,
        progress=job.progress,
    )


AUTHORS: dict[str, Any] = {
    "preprocessing": "paper",
    "class_weight": None,
    "price": 1e-3,
    "batch_size": 1024,
    "pretrain_epochs": 1000,  # a small table is one batch
    "pretrain_patience": 100,
    "all_classes": False,
    "parallel": 1000,
    "pool": 40_000,
    "batch_steps": 50_000,
    "interval": 1000,
    "max_intervals": 100,
    "weight_decay": 0.0,
}

CWCF_METHODS = [
    Method(
        "cwcf",
        "CWCF: deep Q-learning of purchases and classes",
        build,
        fit,
        config=CwcfConfig,
        presets={"default": {}, "authors": AUTHORS},
        family="single model",
    )
]
