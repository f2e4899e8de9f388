"""Several predictors under VIP's policy: ensemble, specialists by cardinality, mixture of experts.

VIP is trained first and gives the querier. The predictors learn from random subsets, and then from
the histories that the querier makes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from pydantic import Field
from torch import Tensor, nn

from hyperdfs.masks import MaskSampler, cardinality_uniform, sizes_up_to
from hyperdfs.methods import vip
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.nn.experts import CardinalityNet, MixtureNet, imbalance
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.predictors.mlp import MLPPredictor
from hyperdfs.selectors.mlp import MLPSelector
from hyperdfs.training.data import Rows
from hyperdfs.training.histories import greedy_histories, policy_check
from hyperdfs.training.loop import History
from hyperdfs.training.masked import Recipe, fit_masked, observe, subset_check, subset_loss
from hyperdfs.training.prices import extra_prices


class MultiModelConfig(vip.VIPConfig):
    """VIP's configuration for the policy, and that of the predictors.

    `histories` goes for the predictors' random subsets too: "short" is half of them up to B_max.
    """

    predictor_hidden: tuple[int, ...] = (64, 32)
    predictor_epochs: int = Field(200, ge=1)
    predictor_lr: float = Field(1e-3, gt=0)
    predictor_patience: int = Field(20, ge=1)
    predictor_weight_decay: float = Field(1e-4, ge=0)
    tuning_epochs: int = Field(20, ge=1)  # on the querier's histories
    tuning_lr: float = Field(1e-3, gt=0)


class MoEConfig(MultiModelConfig):
    """Configuration of the mixture of experts."""

    predictor_hidden: tuple[int, ...] = (64,)
    n_experts: int = Field(5, ge=1)
    balance_weight: float = Field(0.01, ge=0)  # of the experts' imbalance in the loss


MakeNet = Callable[[Shape, Any], nn.Module]  # -> a network (x̃, mask) -> logits


def build(make_net: MakeNet, shape: Shape, config: MultiModelConfig, members: int) -> Model:
    nets = nn.ModuleList(make_net(shape, config) for _ in range(members))
    querier = vip.vip_net(shape, config, shape.n_features)
    return Model(
        MLPPredictor(*nets), MLPSelector(querier), {"predictor": nets, "selector": querier}
    )


def fit(make_net: MakeNet, job: Job, train: Rows, valid: Rows) -> Model:
    """Train VIP, keep its querier, and give it predictors that know its histories."""
    pursuit = vip.fit(job, train, valid)
    model = job.untrained(partial(build, make_net))
    querier, nets = model.modules["selector"], model.modules["predictor"]
    querier.load_state_dict(pursuit.modules["selector"].state_dict())
    assert isinstance(nets, nn.ModuleList)
    model.history = pursuit.history
    for number, net in enumerate(nets):
        model.history += fit_net(net, number, job, train, valid)
    model.history += _tune(model, job, train, valid)
    return model


def fit_net(net: nn.Module, number: int, job: Job, train: Rows, valid: Rows) -> History:
    """One predictor on random subsets."""
    config: MultiModelConfig = job.config
    generator = torch.Generator().manual_seed(job.seed + 7919 * (number + 1))
    short = config.histories == "short"
    draw = sizes_up_to(job.max_budget) if short else cardinality_uniform
    sampler = job.sampler(generator, draw)

    def loss(batch: Rows, epoch: int) -> Tensor:
        return _loss(net, batch, sampler.sample(len(batch)), sampler, config)

    return fit_masked(
        net,
        train,
        loss,
        subset_check(net, valid, sampler),
        _recipe(config, config.predictor_epochs, config.predictor_lr),
        stage="predictor" if number == 0 else f"predictor {number + 1}",
        generator=generator,
        progress=job.progress,
    )


def _tune(model: Model, job: Job, train: Rows, valid: Rows) -> History:
    """All predictors on what the fixed querier buys, after ``n ~ U{1..B_max}`` purchases."""
    config: MultiModelConfig = job.config
    generator = torch.Generator().manual_seed(job.seed + 1)
    sampler = job.sampler(generator)
    nets, querier = model.modules["predictor"], model.modules["selector"]
    assert isinstance(nets, nn.ModuleList)

    def loss(batch: Rows, epoch: int) -> Tensor:
        lengths = torch.randint(1, job.max_budget + 1, (len(batch),), generator=generator)
        masks = greedy_histories(querier, batch, lengths)
        return torch.stack([_loss(net, batch, masks, sampler, config) for net in nets]).sum()

    price = extra_prices(job.costs, config.cost_weight, train, job.max_budget)
    return fit_masked(
        nets,
        train,
        loss,
        policy_check(model.predictor, model.selector, valid, job.max_budget, price),
        _recipe(config, config.tuning_epochs, config.tuning_lr),
        stage="tuning",
        generator=generator,
        progress=job.progress,
        keep_start=True,
    )


def _recipe(config: MultiModelConfig, epochs: int, lr: float) -> Recipe:
    return Recipe(
        epochs=epochs,
        lr=lr,
        batch_size=config.batch_size,
        patience=config.predictor_patience,
        weight_decay=config.predictor_weight_decay,
    )


def _loss(net: nn.Module, rows: Rows, masks: Tensor, sampler: MaskSampler, config: Any) -> Tensor:
    loss = subset_loss(net, rows, masks, sampler)
    if isinstance(net, MixtureNet):
        loss = loss + config.balance_weight * imbalance(net.weights(observe(rows, masks).mask))
    return loss


def _mlp(shape: Shape, config: MultiModelConfig) -> MaskedNet:
    return MaskedNet(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_out=shape.n_classes,
        hidden=config.predictor_hidden,
    )


def _specialists(shape: Shape, config: MultiModelConfig) -> CardinalityNet:
    return CardinalityNet(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_out=shape.n_classes,
        hidden=config.predictor_hidden,
    )


def _mixture(shape: Shape, config: MoEConfig) -> MixtureNet:
    return MixtureNet(
        n_columns=shape.n_columns,
        n_features=shape.n_features,
        n_out=shape.n_classes,
        n_experts=config.n_experts,
        hidden=config.predictor_hidden,
    )


def _method(
    name: str,
    title: str,
    make_net: MakeNet,
    *,
    members: int = 1,
    config: type[MultiModelConfig] = MultiModelConfig,
) -> Method:
    return Method(
        name,
        title,
        partial(build, make_net),
        partial(fit, make_net),
        members,
        config=config,
        presets={"default": {}, "authors": {**vip.VIP_AUTHORS, "tuning_lr": 1e-4}},
        family="multi-model",
    )


MULTI_MODEL_METHODS = [
    _method("ensemble", "Ensemble: five networks under VIP's policy", _mlp, members=5),
    _method("cardinality", "Cardinality: two specialists by size under VIP's policy", _specialists),
    _method("moe", "MoE: mixture of experts under VIP's policy", _mixture, config=MoEConfig),
]
