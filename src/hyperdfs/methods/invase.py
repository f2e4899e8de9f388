"""INVASE, made sequential, and the original that sees the whole row."""

from __future__ import annotations

from functools import partial
from typing import Any

from hyperdfs.acquisition import Selector
from hyperdfs.masks import sizes_up_to
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.predictors.mlp import MLPPredictor
from hyperdfs.selectors.invase import WholeRowSelector
from hyperdfs.selectors.mlp import MLPSelector
from hyperdfs.training.data import Rows
from hyperdfs.training.histories import policy_check
from hyperdfs.training.invase import InvaseConfig, InvaseNets, InvaseStep
from hyperdfs.training.masked import Recipe, fit_masked
from hyperdfs.training.prices import extra_prices


def build(shape: Shape, config: InvaseConfig, members: int, *, peeks: bool = False) -> Model:
    nets = InvaseNets(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_classes=shape.n_classes,
        config=config,
        peeks=peeks,
    )
    # Scores are the logits of π: the same order, and no ties where π is 1 to the last digit.
    actor = nets.actor
    selector: Selector = (
        MLPSelector(actor) if isinstance(actor, MaskedNet) else WholeRowSelector(actor)
    )
    return Model(MLPPredictor(nets.critic), selector, {"nets": nets})


def fit(job: Job, train: Rows, valid: Rows, *, peeks: bool = False) -> Model:
    config: InvaseConfig = job.config
    generator = job.generator()
    model = job.untrained(partial(build, peeks=peeks))
    nets = model.modules["nets"]
    assert isinstance(nets, InvaseNets)
    price = extra_prices(job.costs, config.cost_weight, train, job.max_budget)
    step = InvaseStep(
        nets,
        config,
        job.sampler(generator, sizes_up_to(job.max_budget)),
        price,
        generator,
        peeks,
    )
    model.history = fit_masked(
        nets,
        train,
        step.loss,
        policy_check(model.predictor, model.selector, valid, job.max_budget, price),
        Recipe(
            epochs=config.epochs,
            lr=config.learning_rate,
            batch_size=config.batch_size,
            patience=config.patience,
            weight_decay=config.weight_decay,
            schedule="cosine",
        ),
        stage="actor and critic",
        generator=generator,
        progress=job.progress,
    )
    return model


AUTHORS: dict[str, Any] = {
    "preprocessing": "paper",
    "class_weight": None,
    "replay": False,
    "epochs": 2000,
    "patience": 2000,
    "learning_rate": 1e-4,
    "batch_size": 1000,
    "weight_decay": 2e-3,  # 1e-3 |w|² as part of the loss
}
PRESETS: dict[str, dict[str, Any]] = {"default": {}, "authors": AUTHORS}

INVASE_METHODS = [
    Method(
        "invase",
        "INVASE: actor and critic, one purchase at a time",
        build,
        fit,
        config=InvaseConfig,
        presets=PRESETS,
        family="single model",
    ),
    Method(
        "invase_oracle",
        "INVASE as published: chooses with the whole row in sight",
        partial(build, peeks=True),
        partial(fit, peeks=True),
        config=InvaseConfig,
        presets=PRESETS,
        family="control",
        ranked=False,
    ),
]
