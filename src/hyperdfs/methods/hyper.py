"""Hyper-DFS and HyperEns: the subset network, the learned selector and the stages of training."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import torch

from hyperdfs.config import HyperConfig
from hyperdfs.errors import HyperDFSError
from hyperdfs.methods.base import Job, Model, Shape
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.hyper import ConcatNet, HyperNet, SubsetNet
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.predictors.network import NetworkPredictor
from hyperdfs.selectors.learned import LearnedSelector
from hyperdfs.selectors.static import FittedRandomSelector
from hyperdfs.training.data import Rows
from hyperdfs.training.joint_stage import fit_jointly
from hyperdfs.training.loop import DivergedError, History
from hyperdfs.training.predictor_stage import fit_predictor
from hyperdfs.training.prices import extra_prices
from hyperdfs.training.rollouts import fit_by_rollouts

WIDE = 100  # features from which on the tokens are wider
FEWEST_FOR_ROLLOUTS = 200  # validation rows that can tell policies apart
MOST_FOR_ROLLOUTS = 32  # columns: with more, trying out takes longer than all the rest
ATTEMPTS = 3


def build_net(shape: Shape, config: HyperConfig, members: int) -> SubsetNet:
    """The predictor's network, freshly initialised."""
    dim = 64 if shape.n_features > WIDE or shape.pixels else 32
    compress_to = config.compress_to
    if compress_to is None and shape.pixels:
        compress_to = 128 if config.compressor_sees_mask else 16
    common: dict[str, Any] = {
        "n_columns": shape.n_columns,
        "n_features": shape.n_features,
        "n_classes": shape.n_classes,
        "members": members,
        "encoder": config.encoder,
        "encoder_layers": config.encoder_layers,
        "token_dim": config.token_dim or dim,
        "condition_dim": config.condition_dim or dim,
        "primary": config.primary,
        "compress_to": compress_to,
        "compressor_sees_mask": config.compressor_sees_mask,
        "embedding": _embedding(shape, config) if compress_to is None else None,
    }
    if config.hypernetwork:
        return HyperNet(hyper_width=config.hyper_width, **common)
    return ConcatNet(**common)


def _embedding(shape: Shape, config: HyperConfig) -> tuple[tuple[int, ...], int] | None:
    """Only where it saves something: some feature has more columns than inputs."""
    dim = config.embed_dim
    if dim is None or max(np.bincount(shape.column_group)) <= dim:
        return None
    return shape.column_group, dim


def build(shape: Shape, config: HyperConfig, members: int) -> Model:
    net = build_net(shape, config, members)
    scores = ScoreNet(
        n_columns=shape.n_columns, n_features=shape.n_features, hidden=config.selector_hidden
    )
    return Model(
        NetworkPredictor(net), LearnedSelector(scores), {"predictor": net, "selector": scores}
    )


def build_random(shape: Shape, config: HyperConfig, members: int) -> Model:
    net, fitted = build_net(shape, config, members), Arrays("seed")
    modules = {"predictor": net, "fitted": fitted}
    return Model(NetworkPredictor(net), FittedRandomSelector(fitted), modules)


def batch_size(config: HyperConfig, n: int) -> int:
    """The preset's, or about 30 steps an epoch, between 64 and 512 rows."""
    return config.batch_size or int(np.clip(2 ** round(np.log2(n / 30)), 64, 512))


def stage2_lr(config: HyperConfig, shape: Shape) -> float:
    """The predictor's; one that must look at pixels has more to learn about its purchases."""
    return config.stage2_lr or (3e-3 if shape.pixels else 3e-4)


def rolls_out(job: Job, valid: Rows) -> bool:
    """Whether there is a stage 3.

    Subsets that are withheld must not teach the selector. Images have no teachers.
    """
    tells_apart = len(valid) >= FEWEST_FOR_ROLLOUTS and job.shape.n_features > 1
    cheap = job.shape.n_columns <= MOST_FOR_ROLLOUTS
    allowed = job.held_out is None and not job.shape.pixels
    return bool(job.config.rollout_steps) and tells_apart and cheap and allowed


def fit_together(
    job: Job, train: Rows, valid: Rows, *, joint: bool = True, policy: ScoreNet | None = None
) -> Model:
    """All stages, all members at once; a run that diverges starts again with a third of the step.

    joint : False ends after stage 1, the predictor under random orders.
    policy : a trained selector to keep as it is.
    """
    for attempt in range(ATTEMPTS):
        shrink = 3.0**-attempt
        try:
            return _attempt(job, train, valid, shrink=shrink, joint=joint, policy=policy)
        except DivergedError:
            if attempt + 1 < ATTEMPTS:
                warnings.warn(
                    "Training diverged and starts again with a third of the learning rate.",
                    RuntimeWarning,
                    stacklevel=2,
                )
    raise HyperDFSError(
        f"Training diverged {ATTEMPTS} times, the last with a learning rate of "
        f"{job.config.stage1_lr * shrink:.1e}; set a smaller stage1_lr or look for extreme values."
    )


def _attempt(
    job: Job, train: Rows, valid: Rows, *, shrink: float, joint: bool, policy: ScoreNet | None
) -> Model:
    config = job.config
    generator = job.generator()
    model = job.untrained(build if joint else build_random)
    sampler = job.sampler(generator)
    net = model.modules["predictor"]
    assert isinstance(net, SubsetNet)
    size = batch_size(config, len(train))
    history: History = fit_predictor(
        net,
        train,
        valid,
        config,
        sampler=sampler,
        batch_size=size,
        learning_rate=config.stage1_lr * shrink,
        generator=generator,
        progress=job.progress,
        give_up=job.give_up,
    )
    if joint:
        scores = model.modules["selector"]
        assert isinstance(scores, ScoreNet)
        untrained = copy.deepcopy(scores.state_dict())
        if policy is not None:
            scores.load_state_dict(policy.state_dict())
            scores.requires_grad_(False)
        price = extra_prices(job.costs, config.cost_weight, train, job.max_budget)
        history += fit_jointly(
            net,
            scores,
            train,
            valid,
            config,
            predictor=model.predictor,
            policy=model.selector,
            sampler=sampler,
            max_budget=job.max_budget,
            price=price,
            batch_size=size,
            learning_rate=stage2_lr(config, job.shape) * shrink,
            generator=generator,
            progress=job.progress,
        )
        if policy is None and rolls_out(job, valid):
            history += fit_by_rollouts(
                scores,
                untrained,
                train,
                valid,
                config,
                predictor=model.predictor,
                policy=model.selector,
                max_budget=job.max_budget,
                price=price,
                generator=generator,
                progress=job.progress,
            )
    model.history = history
    return model


def fit_random(job: Job, train: Rows, valid: Rows) -> Model:
    model = fit_together(job, train, valid, joint=False)
    fitted = model.modules["fitted"]
    assert isinstance(fitted, Arrays)
    fitted.set("seed", torch.tensor(job.seed))
    return model
