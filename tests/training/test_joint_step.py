"""The loss of a stage-2 batch: bought and random subsets are encoded together."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hyperdfs.config import make_config
from hyperdfs.masks import ColumnMap, MaskSampler
from hyperdfs.methods.base import Shape
from hyperdfs.methods.hyper import build
from hyperdfs.training.data import make_rows
from hyperdfs.training.joint_stage import JointStep
from hyperdfs.training.losses import collapse_loss, cross_entropy
from hyperdfs.training.predictor_stage import Subsets
from hyperdfs.training.purchases import gumbel_purchases
from small_tables import TINY, numbers

M, N, BUDGET = 5, 24, 3


def joint_step(members, replay):
    config = make_config("default", {**TINY, "replay": replay, "collapse_weight": 0.5})
    torch.manual_seed(0)
    model = build(Shape(tuple(range(M)), M, 2), config, members)
    generator = torch.Generator().manual_seed(0)
    return JointStep(
        model.modules["predictor"],
        model.modules["selector"],
        config,
        MaskSampler(M, generator),
        BUDGET,
        torch.linspace(0.0, 0.1, M),
        generator,
    )


def some_rows(missing):
    X, y = numbers(N, m=M)
    observed = np.ones((N, M), bool)
    if missing:
        observed[::3, 1] = observed[::4, 3] = False
    weight = np.linspace(0.5, 1.5, N)
    return make_rows(X * observed, observed, np.eye(2)[y], weight, ColumnMap(np.arange(M), M))


def part_by_part(step, rows):
    """The same draws in the same order, but each kind of subset encoded by itself."""
    net, config, generator = step.net, step.config, step.generator
    lengths = torch.randint(1, BUDGET + 1, (N,), generator=generator)
    mask = gumbel_purchases(
        step.selector,
        rows.x,
        rows.available(),
        rows.columns,
        lengths.sort(descending=True).values,
        temperature=0.7,
        generator=generator,
    )
    noise = net.noise(N, config.noise, generator)
    x = (rows.x * rows.columns.expand(mask)).unsqueeze(0)
    out = net.rows(x, *net.encode(mask.unsqueeze(0), noise))
    loss = cross_entropy(out.logits, rows.target, rows.weight) + (mask @ step.price).mean()
    loss = loss + config.collapse_weight * collapse_loss(net, out)
    if config.replay:
        subsets = Subsets.draw(net.members, rows, step.sampler, config.masks_per_batch)
        noise = net.noise(subsets.masks.shape[1], config.noise, generator)
        loss = loss + subsets.loss(net, *net.encode(subsets.masks, noise))[0]
    return loss


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("replay", [False, True])
def test_together_is_the_sum_of_its_parts(members, missing, replay):
    rows, step = some_rows(missing), joint_step(members, replay)
    together = step.loss(rows, 0.7)
    weights = [*step.net.parameters(), *step.selector.parameters()]
    gradients = torch.autograd.grad(together.sum(), weights)
    step.generator.manual_seed(0)
    apart = part_by_part(step, rows)
    assert together.shape == (members,)
    torch.testing.assert_close(together, apart)
    for ours, theirs in zip(gradients, torch.autograd.grad(apart.sum(), weights), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)
