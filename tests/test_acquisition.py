"""The walk itself, with a selector and a predictor that can be computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.acquisition import walk
from hyperdfs.masks import ColumnMap
from hyperdfs.results import make_acquisition
from hyperdfs.selectors.fixed import RandomSelector, StaticSelector


class Counting:
    """p(y=1) = sum of what is known; also keeps what it was shown."""

    def __init__(self):
        self.seen = []

    def proba(self, x, mask):
        self.seen.append((x.clone(), mask.clone()))
        total = x.sum(1, keepdim=True)
        return torch.cat([1 - total, total], 1)


class Greedy:
    """Prefers features by the value bought last, so that the order depends on the row."""

    def scores(self, x, mask):
        assert not (x[mask == 0] != 0).any()
        return x.sum(1, keepdim=True) * torch.arange(mask.shape[1]).float()


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 12), m=st.integers(1, 7), budget=st.integers(1, 9), seed=st.integers(0, 999)
)
def test_what_is_bought_is_what_is_seen(n, m, budget, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(n, m, generator=generator)
    available = (torch.rand(n, m, generator=generator) < 0.7).float()
    x = x * available
    predictor = Counting()
    path = walk(predictor, Greedy(), x, available, ColumnMap(np.arange(m), m), budget)
    steps = min(budget, m)
    assert path.order.shape == (n, steps)
    assert path.proba.shape == (n, steps + 1, 2)
    assert all(len(set(row)) == steps for row in path.order.tolist())
    for b, (shown, mask) in enumerate(predictor.seen):
        bought = np.zeros((n, m), bool)
        np.put_along_axis(bought, path.order[:, :b], True, 1)
        expected = bought & (available.numpy() > 0)
        np.testing.assert_array_equal(mask.numpy() > 0, expected)
        np.testing.assert_array_equal(shown.numpy(), np.where(expected, x.numpy(), 0))


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 12), m=st.integers(2, 7), start=st.integers(0, 6), seed=st.integers(0, 999))
def test_a_walk_goes_on_from_what_is_known(n, m, start, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(n, m, generator=generator)
    available = (torch.rand(n, m, generator=generator) < 0.7).float()
    x, start = x * available, min(start, m)
    columns = ColumnMap(np.arange(m), m)
    whole = walk(Counting(), Greedy(), x, available, columns, m)
    known = torch.zeros(n, m).scatter_(1, torch.as_tensor(whole.order[:, :start]), 1.0)
    rest = walk(Counting(), Greedy(), x, available, columns, m, known=known)
    np.testing.assert_array_equal(rest.order[:, : m - start], whole.order[:, start:])
    np.testing.assert_array_equal(rest.proba[:, : m - start + 1], whole.proba[:, start:])
    assert (rest.order[:, m - start :] == -1).all()
    assert (rest.proba[:, m - start :] == whole.proba[:, -1:]).all()


def test_a_static_order_is_followed():
    order = [2, 0, 3, 1]
    path = walk(
        Counting(),
        StaticSelector(order),
        torch.rand(5, 4),
        torch.ones(5, 4),
        ColumnMap(np.arange(4), 4),
        4,
    )
    assert (path.order == order).all()


def test_a_random_order_is_uniform_and_its_own_for_each_row():
    m, n = 4, 4000
    path = walk(
        Counting(),
        RandomSelector(seed=1),
        torch.rand(n, m),
        torch.ones(n, m),
        ColumnMap(np.arange(m), m),
        m,
    )
    for step in range(m):
        share = np.bincount(path.order[:, step], minlength=m) / n
        assert np.abs(share - 1 / m).max() < 0.04
    _, counts = np.unique(path.order, axis=0, return_counts=True)
    assert len(counts) == 24


def test_costs_add_up_and_a_stopped_case_pays_nothing():
    order = np.array([[1, 0, 2], [2, -1, -1]])
    a = make_acquisition(order, np.zeros((2, 4, 2)), np.array([1.0, 2.0, 4.0]))
    assert a.cost.tolist() == [[0, 2, 3, 7], [0, 4, 4, 4]]
    assert a.budget == 3
    assert a.masks(0).sum() == 0
    assert a.masks(2).tolist() == [[True, True, False], [False, False, True]]
    assert a.masks(np.int64(3)).tolist() == [[True, True, True], [False, False, True]]


def test_a_result_cannot_be_rebound():
    a = make_acquisition(np.array([[0]]), np.zeros((1, 2, 2)), np.array([1.0]))
    with pytest.raises(AttributeError):
        a.order = None
