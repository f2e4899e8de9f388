"""The score of a policy by which an epoch is chosen: losses, and what the purchases cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from hyperdfs.masks import ColumnMap
from hyperdfs.methods import get_method
from hyperdfs.methods.base import Job, Shape
from hyperdfs.training.data import Rows, make_rows
from hyperdfs.training.histories import policy_check
from hyperdfs.training.policy_scores import policy_scores
from hyperdfs.training.prices import extra_prices, relative_costs

COSTS = np.array([8.0, 1.0, 1.0, 2.0])
REPA = {"base_epochs": 2, "subset_epochs": 2, "selector_epochs": 3}
CWCF = {"pretrain_epochs": 2, "parallel": 16, "batch_steps": 64, "interval": 5, "max_intervals": 3}


class Even:
    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        return torch.full((len(x), 2), 0.5)


class InOrder:
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        return -torch.arange(4.0).expand(len(x), 4)


def rows(n: int = 60) -> Rows:
    x = np.random.default_rng(0).normal(size=(n, 4))
    target = np.eye(2)[(x[:, 0] > 0).astype(int)]
    return make_rows(x, np.ones((n, 4), bool), target, np.ones(n), ColumnMap(np.arange(4), 4))


def score(price: Tensor, *, cumulative: bool) -> float:
    return policy_check(Even(), InOrder(), rows(), 3, price, cumulative=cumulative)()


def test_a_purchase_by_itself_or_all_until_then() -> None:
    price = torch.tensor([0.6, -0.2, 0.1, 9.0])
    single, summed = (score(price, cumulative=each) - math.log(2.0) for each in (False, True))
    assert single == pytest.approx((0.6 - 0.2 + 0.1) / 3)
    assert summed == pytest.approx((0.6 + 0.4 + 0.5) / 3)


@pytest.mark.parametrize("price", [0.0, 9.313225746154785e-10])
def test_equal_prices_add_the_same_either_way(price: float) -> None:
    equal = torch.full((4,), price)  # what rounding may leave of equal prices is not summed
    assert score(equal, cumulative=True) == score(equal, cumulative=False)


def of_repa(job: Job, train: Rows) -> Tensor:
    return extra_prices(job.costs, job.config.cost_weight, train, job.max_budget)


def of_cwcf(job: Job, train: Rows) -> Tensor:
    return torch.tensor(job.config.price * (relative_costs(job.costs) - 1.0), dtype=torch.float32)


@pytest.mark.parametrize(
    ("name", "config", "price"),
    [("repa", REPA, of_repa), ("cwcf", {**CWCF, "price": 0.1}, of_cwcf)],
    ids=["repa", "cwcf"],
)
def test_who_learns_what_a_trajectory_costs_is_chosen_by_it(
    name: str, config: dict[str, Any], price: Callable[[Job, Rows], Tensor]
) -> None:
    method, data = get_method(name), rows()
    job = Job(
        shape=Shape(tuple(range(4)), 4, 2),
        config=method.configure("default", config),
        members=1,
        max_budget=3,
        costs=COSTS,
        seed=0,
        device=torch.device("cpu"),
        progress=lambda *_: None,
    )
    model = method.fit(job, data, data)
    last = model.history[-1]["stage"]
    best = min(row["valid_loss"] for row in model.history if row["stage"] == last)
    found = policy_scores(model.predictor, model.selector, data, 3, price(job, data))
    assert best == pytest.approx(found.log_loss + found.paid, rel=1e-5)
