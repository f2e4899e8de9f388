"""AACO: it plans ahead, from rows that are near in what is known."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs import DFSClassifier
from hyperdfs.masks import ColumnMap
from hyperdfs.methods.aaco import AACOConfig, build
from hyperdfs.methods.base import Model, Shape
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.selectors.aaco import AACOSelector, subset_logits
from hyperdfs.training.aaco import draw_plans, keep_rows
from hyperdfs.training.data import Rows, make_rows
from method_contract import MethodContract

TINY = {"epochs": 3, "hidden": (8,), "neighbours": 4, "plans": 8}


class TestContract(MethodContract):
    method, tiny = "aaco", TINY


GROUPS = (0, 1, 1, 2, 3)


def some_rows(n: int = 40, *, missing: float = 0.0) -> Rows:
    rng = np.random.default_rng(0)
    observed = rng.random((n, 4)) >= missing
    values = rng.normal(size=(n, 5)) * observed[:, GROUPS]
    target = np.eye(2)[rng.integers(0, 2, n)]
    weight = rng.uniform(0.5, 2.0, n)
    return make_rows(values, observed, target, weight, ColumnMap(np.array(GROUPS), 4))


def model_of(rows: Rows, *, horizon: int = 3, plans: int = 100, price: float = 0.0) -> Model:
    """An untrained predictor with stored rows."""
    torch.manual_seed(0)
    config = AACOConfig(hidden=(8, 8), neighbours=5)
    model = build(Shape(GROUPS, 4, 2), config, 1)
    fitted, generator = model.modules["fitted"], torch.Generator().manual_seed(0)
    assert isinstance(fitted, Arrays)
    keep_rows(fitted, rows, torch.tensor(GROUPS), generator)
    fitted.set("plans", draw_plans(4, horizon, plans, generator))
    fitted.set("horizon", torch.tensor(horizon))
    fitted.set("price", torch.full((4,), price))
    return model


def selector_of(model: Model) -> AACOSelector:
    assert isinstance(model.selector, AACOSelector)
    return model.selector


def test_it_buys_the_pair_that_pays_only_together() -> None:
    """y = x2 xor x5: no single purchase tells anything, so a greedy rule has no signal."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (800, 7))
    y = (X[:, 2] * X[:, 5] > 0).astype(int)
    config = {"epochs": 40, "hidden": (32, 32), "dropout": 0.0, "lr": 5e-3, "n_bins": 0}
    clf = DFSClassifier("aaco", max_budget=4, config=config).fit(X, y)
    bought = clf.acquire(X[:100], budget=2)
    assert {tuple(sorted(row)) for row in bought.order.tolist()} == {(2, 5)}
    assert (bought.proba[:, 2].argmax(1) == y[:100]).mean() > 0.95

    model = clf._state.model
    fitted = model.modules["fitted"]
    assert isinstance(fitted, Arrays)
    fitted.set("plans", torch.zeros(0, 1, dtype=torch.long))
    gains = model.selector.scores(torch.zeros(1, 7), torch.zeros(1, 7))[0]
    assert gains.max() - gains.min() < 0.02  # nats: without plans there is nothing to go by


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 15), st.floats(0, 0.4))
def test_neighbours_are_near_in_what_is_known(bits: int, missing: float) -> None:
    rows = some_rows(missing=missing)
    model = model_of(rows)
    fitted = model.modules["fitted"]
    assert isinstance(fitted, Arrays)
    subset = torch.tensor([float(bits >> j & 1) for j in range(4)])
    known = subset[list(GROUPS)]
    x = torch.randn(6, 5, generator=torch.Generator().manual_seed(bits))
    near = selector_of(model).nearest(x * known, subset)
    if not bits:
        assert near.shape[1] == len(rows)
        return
    stored, available, scale = (fitted.get(name) for name in ("x", "available", "scale"))
    for i in range(6):
        distance = torch.zeros(len(stored))
        for j in range(4):
            columns = [c for c in range(5) if GROUPS[c] == j]
            part = ((stored - x[i]) * scale)[:, columns].square().sum(1)
            distance += subset[j] * torch.where(available[:, j] > 0, part, torch.tensor(2.0))
        assert torch.allclose(distance[near[i]], distance.sort().values[:5], atol=1e-4)
    # Other values where nothing is known lead to the same rows.
    other = x * known + torch.randn(6, 5) * (1 - known)
    assert torch.equal(selector_of(model).nearest(other, subset), near)


def test_all_subsets_at_once_are_the_network_on_each() -> None:
    rows = some_rows(n=10, missing=0.3)
    net = model_of(rows).modules["predictor"]
    assert isinstance(net, MaskedNet)
    masks = (torch.rand(7, 4, generator=torch.Generator().manual_seed(1)) < 0.5).float()
    together = subset_logits(net.eval(), rows.x, rows.available(), masks, torch.tensor(GROUPS))
    for i, mask in enumerate(masks):
        known = mask * rows.available()
        torch.testing.assert_close(together[:, i], net(rows.x * known[:, GROUPS], known))


def test_the_score_is_the_loss_of_the_best_plan() -> None:
    """Against a plain loop over rows, neighbours and plans."""
    rows = some_rows(missing=0.2)
    model = model_of(rows, price=0.03)
    fitted, selector = model.modules["fitted"], selector_of(model)
    assert isinstance(fitted, Arrays)
    subset = torch.tensor([0.0, 1.0, 0.0, 0.0])
    known = subset[list(GROUPS)]
    x = torch.randn(3, 5, generator=torch.Generator().manual_seed(1)) * known
    scores = selector.scores(x, subset.expand(3, -1))
    near = selector.nearest(x, subset)
    for i in range(3):
        best = dict.fromkeys((0, 2, 3), np.inf)
        own: dict[int, float] = {}
        for plan in ([0], [2], [3], [0, 2], [0, 3], [2, 3]):  # at most 3 features in all
            losses, weights = [], []
            for n in near[i].tolist():
                mask = subset.clone()
                mask[plan] = 1.0
                mask = mask * fitted.get("available")[n]
                row = fitted.get("x")[n] * mask[list(GROUPS)]
                proba = model.predictor.proba(row[None], mask[None])[0]
                losses.append(float(-(fitted.get("target")[n] * proba.log()).sum()))
                weights.append(float(fitted.get("weight")[n]))
            total = np.average(losses, weights=weights) + 0.03 * len(plan)
            best.update({j: min(best[j], total) for j in plan})
            if len(plan) == 1:
                own[plan[0]] = total
        for j in best:
            assert abs(float(scores[i, j]) + best[j] + 1e-3 * own[j]) < 1e-4


def test_plans_respect_what_is_known_and_the_budget() -> None:
    model = model_of(some_rows(), horizon=3)
    plans = selector_of(model).plans(torch.tensor([1.0, 0.0, 0.0, 0.0]))
    assert not plans[:, 0].any()
    assert torch.equal(plans[:3], torch.eye(4)[1:])
    assert set(plans.sum(1).tolist()) == {1.0, 2.0}
    assert len(plans.unique(dim=0)) == len(plans)
    beyond = selector_of(model).plans(torch.tensor([1.0, 1.0, 1.0, 0.0]))
    assert torch.equal(beyond, torch.eye(4)[3:])


def test_a_price_makes_plans_short() -> None:
    scores = selector_of(model_of(some_rows(), price=1e3)).scores(
        torch.zeros(1, 5), torch.zeros(1, 4)
    )
    assert bool((scores < -999).all())
    assert bool((scores > -1100).all())  # the price of one purchase: single ones win


def test_wide_tables() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 689))
    y = (X[:, 300] > 0).astype(int)
    config = {"epochs": 2, "hidden": (8,), "neighbours": 5, "plans": 20, "n_bins": 0}
    bought = DFSClassifier("aaco", max_budget=3, config=config).fit(X, y).acquire(X[:8])
    assert all(len(set(row)) == 3 for row in bought.order.tolist())
