"""SEFA, stochastic encodings for active feature acquisition (Norcliffe et al. 2025)."""

from __future__ import annotations

from typing import Any

import torch

from hyperdfs.masks import rate_uniform, sizes_up_to
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.sefa import SefaNet
from hyperdfs.predictors.sefa import SefaPredictor
from hyperdfs.selectors.sefa import SefaSelector
from hyperdfs.training.data import Rows
from hyperdfs.training.histories import policy_check
from hyperdfs.training.masked import Recipe, fit_masked
from hyperdfs.training.prices import relative_costs
from hyperdfs.training.sefa import SefaConfig, SefaStep

WIDE = 100  # features from which on their encoders are narrower
MOST_CHECKED = 500  # validation rows that buy after each epoch


def build(shape: Shape, config: SefaConfig, members: int) -> Model:
    net = SefaNet(
        shape.column_group,
        shape.n_features,
        shape.n_classes,
        encoder_hidden=config.encoder_hidden or ((8, 8) if shape.n_features > WIDE else (20, 20)),
        latent=config.latent,
        predictor_hidden=config.predictor_hidden,
    )
    costs = Arrays("relative")
    return Model(
        SefaPredictor(net, config.draws),
        SefaSelector(net, costs, config.draws),
        {"net": net, "costs": costs},
    )


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    """One training on random subsets; the score needs none of its own."""
    config: SefaConfig = job.config
    generator = job.generator()
    model = job.untrained(build)
    net, costs = model.modules["net"], model.modules["costs"]
    assert isinstance(net, SefaNet)
    assert isinstance(costs, Arrays)
    costs.set("relative", torch.tensor(relative_costs(job.costs), dtype=torch.float32))
    model.to(job.device)
    draw = sizes_up_to(job.max_budget) if config.subsets == "short" else rate_uniform
    sampler = job.sampler(generator, draw)
    checked = torch.randperm(len(valid), generator=generator)[:MOST_CHECKED].to(job.device)
    model.history = fit_masked(
        net,
        train,
        SefaStep(net, config, sampler, generator).loss,
        policy_check(
            SefaPredictor(net, config.train_draws),
            SefaSelector(net, costs, config.train_draws),
            valid.take(checked),
            job.max_budget,
            torch.zeros(job.shape.n_features, device=job.device),
        ),
        Recipe(
            epochs=config.epochs,
            lr=config.learning_rate,
            batch_size=config.batch_size,
            patience=config.patience,
            weight_decay=config.weight_decay,
            schedule=config.schedule,
        ),
        stage="encoders and predictor",
        generator=generator,
        progress=job.progress,
    )
    return model


AUTHORS: dict[str, Any] = {
    "preprocessing": "paper",
    "class_weight": None,
    "encoder_hidden": (100, 100),
    "predictor_hidden": (250, 250),
    "bottleneck": 1e-3,
    "subsets": "all",
    "train_draws": 100,
    "draws": 200,
    "epochs": 120,
    "patience": 120,
    "learning_rate": 5e-4,
    "schedule": "plateau",
    "batch_size": 128,
}

SEFA_METHODS = [
    Method(
        "sefa",
        "SEFA: stochastic encoders, gradients in latent space",
        build,
        fit,
        config=SefaConfig,
        presets={"default": {}, "authors": AUTHORS},
        family="single model",
    )
]
