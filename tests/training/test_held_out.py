"""Subsets that are withheld from training never carry a loss."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import torch

from hyperdfs.config import make_config
from hyperdfs.features import FeatureSpace
from hyperdfs.fitting import fit_state
from hyperdfs.masks import ColumnMap, MaskSampler
from hyperdfs.methods import Shape
from hyperdfs.methods.hyper import build
from hyperdfs.training.data import make_rows
from hyperdfs.training.joint_stage import JointStep
from hyperdfs.training.predictor_stage import Subsets
from small_tables import TINY, numbers

SINGLES = np.eye(3, dtype=bool)


def joint_step(held_out):
    config = make_config("default", {**TINY, "replay": False, "collapse_weight": 0.0})
    torch.manual_seed(0)
    model = build(Shape((0, 1, 2), 3, 2), config, 1)
    generator = torch.Generator().manual_seed(0)
    sampler = MaskSampler(3, generator, held_out=held_out)
    net, selector = model.modules["predictor"], model.modules["selector"]
    return JointStep(
        net=net,
        selector=selector,
        config=config,
        sampler=sampler,
        max_budget=1,
        price=torch.zeros(3),
        generator=generator,
    )


def rows(observed=None):
    X, y = numbers(32, m=3)
    observed = np.ones((32, 3), bool) if observed is None else observed
    columns = ColumnMap(np.arange(3), 3)
    return make_rows(X * observed, observed, np.eye(2)[y], np.ones(32), columns)


def test_stage_2_purchases_that_end_on_a_held_out_subset_count_nothing():
    """With a budget of 1 every purchase ends on a single feature, and all of them are held out."""
    assert joint_step(None).loss(rows(), 1.0).item() > 0.1
    step = joint_step(SINGLES)
    loss = step.loss(rows(), 1.0)
    assert loss.item() == 0.0
    loss.sum().backward()
    for p in [*step.net.parameters(), *step.selector.parameters()]:
        assert p.grad is None or not p.grad.any()


def trained_on(observed):
    generator = torch.Generator().manual_seed(0)
    sampler = MaskSampler(3, generator, held_out=SINGLES)
    drawn = [Subsets.draw(1, rows(observed), sampler, 8).masks for _ in range(10)]
    return sampler.is_held_out(torch.cat(drawn).flatten(0, 1))


def test_stage_1_never_sees_a_held_out_subset():
    assert not trained_on(None).any()


def test_stage_1_gives_no_weight_to_what_missing_cells_turn_into_a_held_out_subset():
    """Only feature 0 is ever known, so every sampled subset shrinks to {0} or to nothing."""
    only_first = np.tile([True, False, False], (32, 1))
    net, generator = joint_step(None).net, torch.Generator().manual_seed(0)
    withheld = np.array([[False, False, False], [True, False, False]])
    losses = {}
    for held_out in (None, withheld):
        sampler = MaskSampler(3, generator, held_out=held_out)
        subsets = Subsets.draw(1, rows(only_first), sampler, 8)
        loss, _ = subsets.loss(net, *net.encode(subsets.masks))
        losses[held_out is None] = loss.item()
    assert losses[True] > 0.1
    assert losses[False] == 0.0


def test_a_whole_fit_with_held_out_subsets():
    X, y = numbers(40, m=3)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    held_out = np.array(list(product([False, True], repeat=3)))[[3, 5]]
    state = fit_state(
        table,
        y,
        np.ones(40),
        FeatureSpace.from_columns(table.columns),
        n_classes=2,
        method="hyperdfs",
        config=make_config("default", TINY),
        members=1,
        max_budget=3,
        device=torch.device("cpu"),
        seed=0,
        progress=lambda *_: None,
        held_out=held_out,
    )
    proba = state.model.predictor.proba(
        torch.from_numpy(X).float(), torch.from_numpy(held_out[:1].repeat(40, 0)).float()
    )
    assert torch.isfinite(proba).all()
