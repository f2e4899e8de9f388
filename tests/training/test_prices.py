"""Costs of features: relative to their mean, as extra loss, and under a gain."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hyperdfs.masks import ColumnMap
from hyperdfs.training.data import Rows, make_rows
from hyperdfs.training.orders import worth
from hyperdfs.training.prices import extra_prices, per_cost, relative_costs


def rows(weight: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)) -> Rows:
    target = np.eye(2)[[0, 1, 0, 1]]
    return make_rows(
        np.zeros((4, 3)),
        np.ones((4, 3), bool),
        target,
        np.array(weight),
        ColumnMap(np.arange(3), 3),
    )


@given(st.floats(0.0, 1e6))
def test_equal_costs_are_exactly_nothing(cost: float) -> None:
    costs = np.full(3, cost)
    assert relative_costs(costs).tolist() == [1.0, 1.0, 1.0]
    assert extra_prices(costs, 1.0, rows(), 2).tolist() == [0.0, 0.0, 0.0]


def test_a_feature_of_twice_the_mean_cost_pays_its_share_of_the_entropy() -> None:
    costs = np.array([4.0, 2.0, 0.0])
    assert relative_costs(costs).tolist() == [2.0, 1.0, 0.0]
    share = 0.5 * math.log(2.0) / 2
    price = extra_prices(costs, 0.5, rows(), 2)
    assert price.tolist() == pytest.approx([share, 0.0, -share])
    certain = extra_prices(costs, 0.5, rows((1.0, 0.0, 1.0, 0.0)), 2)
    assert certain.tolist() == pytest.approx([0.0, 0.0, 0.0])  # nothing to know about y


def test_gain_per_cost() -> None:
    gain = torch.tensor([0.4, 0.4, -0.1, -0.1])
    assert torch.equal(per_cost(gain, torch.ones(4)), gain)
    priced = per_cost(gain, torch.tensor([1.0, 2.0, 1.0, 2.0]))
    assert priced[0] > priced[1]
    assert priced[2] > priced[3]  # dearer is worse, noise or not
    assert per_cost(gain, torch.zeros(4)).isfinite().all()


@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0.0, 1e3)), min_size=1, max_size=9),
)
def test_gain_per_cost_of_arrays(pairs: list[tuple[float, float]]) -> None:
    gain, cost = np.array(pairs).T
    cost.flags.writeable = False
    least = np.maximum(cost, 1e-6)
    expected = np.where(gain > 0, gain / least, gain * least)
    np.testing.assert_array_equal(worth(gain, cost), expected)
    np.testing.assert_array_equal(worth(gain, np.ones(len(gain))), gain)
