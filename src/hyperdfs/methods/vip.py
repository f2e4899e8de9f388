"""VIP, variational information pursuit (Chattopadhyay et al. 2023)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from hyperdfs.config import TableConfig
from hyperdfs.masks import rate_uniform, sizes_up_to
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.predictors.mlp import MLPPredictor
from hyperdfs.selectors.mlp import MLPSelector
from hyperdfs.training.data import Rows
from hyperdfs.training.histories import policy_check
from hyperdfs.training.masked import Recipe
from hyperdfs.training.prices import extra_prices
from hyperdfs.training.vip import Pursuit


class VIPConfig(TableConfig):
    """Configuration of VIP, and of the policy of the multi-model methods."""

    hidden: tuple[int, ...] = (256, 128)
    sees_mask: bool = True  # the authors' networks see the known values alone
    histories: Literal["short", "all"] = "short"  # half of them below B_max, or any size
    random_epochs: int = Field(100, ge=1)
    own_epochs: int = Field(20, ge=1)
    lr: float = Field(1e-3, gt=0)
    own_lr: float = Field(1e-4, gt=0)
    weight_decay: float = Field(1e-4, ge=0)
    patience: int = Field(30, ge=1)
    temperature: tuple[float, float] = (1.0, 0.2)  # first and last epoch
    batch_size: int | None = Field(None, ge=1)
    cost_weight: float = Field(1.0, ge=0)


VIP_AUTHORS: dict[str, Any] = {
    "preprocessing": "paper",
    "class_weight": None,
    "hidden": (2000, 1000, 500),
    "sees_mask": False,
    "histories": "all",
    "lr": 1e-4,
    "weight_decay": 0.0,
    "patience": 100,
    "batch_size": 128,
}


def vip_net(shape: Shape, config: VIPConfig, n_out: int) -> MaskedNet:
    return MaskedNet(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_out=n_out,
        hidden=config.hidden,
        norm="layer",
        sees_mask=config.sees_mask,
    )


def build(shape: Shape, config: VIPConfig, members: int) -> Model:
    classifier = vip_net(shape, config, shape.n_classes)
    querier = vip_net(shape, config, shape.n_features)
    return Model(
        MLPPredictor(classifier),
        MLPSelector(querier),
        {"predictor": classifier, "selector": querier},
    )


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    """Classifier and querier together: on random histories, then on the querier's own."""
    config: VIPConfig = job.config
    generator = job.generator()
    model = job.untrained(build)
    classifier, querier = model.modules["predictor"], model.modules["selector"]
    assert isinstance(classifier, MaskedNet)
    assert isinstance(querier, MaskedNet)
    price = extra_prices(job.costs, config.cost_weight, train, job.max_budget)
    short = config.histories == "short"
    pursuit = Pursuit(
        classifier,
        querier,
        job.sampler(generator, sizes_up_to(job.max_budget - 1) if short else rate_uniform),
        job.max_budget,
        price,
        config.temperature,
        generator,
    )
    recipe = Recipe(
        epochs=config.random_epochs,
        lr=config.lr,
        batch_size=config.batch_size,
        patience=config.patience,
        weight_decay=config.weight_decay,
        schedule="cosine",
        amsgrad=True,
    )
    own = replace(recipe, epochs=config.own_epochs, lr=config.own_lr)
    check = policy_check(model.predictor, model.selector, valid, job.max_budget, price)
    model.history = pursuit.fit(train, check, recipe, own, job.progress)
    return model


VIP = Method(
    "vip",
    "VIP: variational information pursuit",
    build,
    fit,
    config=VIPConfig,
    presets={"default": {}, "authors": VIP_AUTHORS},
    family="single model",
)
