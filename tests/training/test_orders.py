"""Forward selection of one order for all, and the rows that choose it."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from hyperdfs.masks import ColumnMap
from hyperdfs.training.boosting import Growth, Table, to_table, try_out
from hyperdfs.training.data import Rows, joined, make_rows, stacked
from hyperdfs.training.orders import (
    complete,
    forward_order,
    rows_to_choose,
    subset_losses,
    worth,
)


def rows(n: int, seed: int = 0, *, missing: float = 0.0) -> Rows:
    rng = np.random.default_rng(seed)
    values, observed = rng.normal(size=(n, 3)), rng.random((n, 3)) >= missing
    labels = (values[:, 1] > 0).astype(int)
    columns = ColumnMap(np.arange(3), 3)
    return make_rows(values * observed, observed, np.eye(2)[labels], rng.random(n) + 0.5, columns)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=7, unique=True), st.floats(0.1, 9.0))
def test_independent_gains_are_bought_from_the_largest(gains: list[int], price: float) -> None:
    def losses(subsets: list[list[int]]) -> np.ndarray:
        return np.array([100.0 - sum(gains[j] for j in subset) for subset in subsets])

    best = np.argsort(gains)[::-1].tolist()
    costs = np.full(len(gains), price)
    for lookahead in (False, True):
        order = forward_order(losses, range(len(gains)), 3, costs, lookahead=lookahead)
        assert order == best[:3]


def test_lookahead_finds_a_pair() -> None:
    def losses(subsets: list[list[int]]) -> np.ndarray:
        return np.array([10.0 - 5.0 * ({1, 3} <= set(s)) - 1.0 * (0 in s) for s in subsets])

    ones = np.ones(4)
    assert forward_order(losses, range(4), 1, ones) == [0]
    assert set(forward_order(losses, range(4), 2, ones, lookahead=True)) == {1, 3}


def test_gain_per_cost() -> None:
    def losses(subsets: list[list[int]]) -> np.ndarray:
        return np.array([10.0 - 3.0 * (0 in s) - 2.0 * (1 in s) for s in subsets])

    assert forward_order(losses, range(2), 2, np.array([2.0, 1.0])) == [1, 0]
    assert forward_order(losses, range(2), 2, np.array([0.0, 0.0])) == [0, 1]
    assert worth(np.array([-1.0, -1.0]), np.array([1.0, 3.0])).tolist() == [-1.0, -3.0]


def test_the_rest_follows_as_ranked() -> None:
    assert complete([2, 0], [3, 2, 1, 0]) == [2, 0, 3, 1]


class Half:
    """Says 1/2, or, where feature 1 is known, nearly what its sign says."""

    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        sure = 0.5 + 0.4 * torch.sign(x[:, 1]) * mask[:, 1]
        return torch.stack([1.0 - sure, sure], 1)


def test_losses_of_subsets_equal_those_computed_one_by_one() -> None:
    data = rows(40, missing=0.3)
    assert data.observed is not None
    losses = subset_losses(Half(), data, torch.Generator().manual_seed(0))
    each = torch.where(data.observed[:, 1] > 0, -np.log(0.9), -np.log(0.5)) * data.weight
    blind = -np.log(0.5) * data.weight
    expected = [blind.mean(), each.mean(), each.mean()]
    assert np.allclose(losses([[0], [1], [1, 2]]), expected, atol=1e-5)


def test_which_rows_choose() -> None:
    small, large, train = rows(20), rows(400), rows(100, 1)
    assert rows_to_choose(train, large) is large
    assert len(rows_to_choose(train, small)) == 120
    assert joined(train, train) is train
    both = stacked(rows(5, missing=0.5), rows(5))
    assert both.observed is not None
    assert both.observed[5:].all()


def test_a_soft_target_becomes_weighted_rows() -> None:
    data = rows(10)
    target = torch.tensor([[0.25, 0.75]]).expand(10, -1)
    table = to_table(Rows(data.x, None, target, data.weight, data.columns))
    assert len(table) == 20
    for label, share in ((0, 0.25), (1, 0.75)):
        mine = table.labels == label
        assert np.allclose(table.weight[mine], share * data.weight.numpy())
        assert np.array_equal(table.x[mine], data.x.numpy())


def test_unknown_cells_are_nan_for_trees() -> None:
    data = rows(10, missing=0.4)
    assert data.observed is not None
    table = to_table(data, torch.tensor([1.0, 1.0, 0.0]).expand(10, -1))
    expected = data.observed.numpy() > 0
    expected[:, 2] = False
    assert np.array_equal(~np.isnan(table.x), expected)


def test_trees_are_kept_up_to_their_best_round() -> None:
    """Noise: the first round is the best, or nearly so."""
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(300, 3)).astype(np.float32), rng.integers(0, 2, 300)
    first, second = (
        Table(x[:200], labels[:200], np.ones(200)),
        Table(x[200:], labels[200:], np.ones(100)),
    )
    trial = try_out(first, second, np.arange(3), Growth(rounds=30), 2, 0)
    assert len(trial.booster.trees) == int(trial.losses.argmin()) + 1 < 15
