"""Macro-F1 over money: what equal prices mean, and who is helped by cheap purchases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.evaluation.money import affordable, cost_area, money_grid
from hyperdfs.metrics import macro_f1_curve
from hyperdfs.results import make_acquisition


@st.composite
def runs(draw):
    """Labels, probabilities and purchases of a method on a table with prices."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, m, c = draw(st.integers(1, 20)), draw(st.integers(1, 6)), draw(st.integers(2, 4))
    budget = draw(st.integers(1, m))
    order = np.argsort(rng.random((n, m)), axis=1)[:, :budget]
    costs = np.round(rng.uniform(0, 9, m), 1)
    proba = rng.dirichlet(np.ones(c), (n, budget + 1))
    return rng.integers(0, c, n), make_acquisition(order, proba, costs), costs


@settings(max_examples=50, deadline=None)
@given(runs(), st.floats(0.1, 1000))
def test_equal_prices_give_the_mean_over_purchases(run, price):
    labels, bought, costs = run
    same = make_acquisition(bought.order, bought.proba, np.full(len(costs), price))
    area = cost_area(labels, bought.proba, same.cost, np.full(len(costs), price))
    assert area == pytest.approx(macro_f1_curve(labels, bought.proba)[1:].mean())


@settings(max_examples=50, deadline=None)
@given(runs(), st.sampled_from([0.01, 3.0, 1e6]))
def test_the_currency_does_not_matter(run, rate):
    labels, bought, costs = run
    here = cost_area(labels, bought.proba, bought.cost, costs)
    there = cost_area(labels, bought.proba, bought.cost * rate, costs * rate)
    assert here == pytest.approx(there)


def test_nobody_spends_more_than_the_limit():
    spent = np.array([[0.0, 1.0, 5.0], [0.0, 3.0, 3.0]])
    assert affordable(spent, 0.5).tolist() == [0, 0]
    assert affordable(spent, 3.0).tolist() == [1, 2]
    assert affordable(spent, 9.0).tolist() == [2, 2]


def test_what_is_free_is_bought_at_once():
    labels = np.array([0, 1])
    wrong, right = np.eye(2)[[1, 0]], np.eye(2)[labels]
    proba = np.stack([wrong, right], axis=1)
    assert cost_area(labels, proba, np.zeros((2, 2)), np.zeros(3)) == 1.0


def test_cheap_purchases_win_over_dear_ones():
    costs = np.array([1.0, 9.0])
    labels = np.array([0, 1])
    proba = np.stack([np.eye(2)[[1, 0]], np.eye(2)[labels], np.eye(2)[labels]], axis=1)
    areas = [
        cost_area(labels, proba, make_acquisition(order, proba, costs).cost, costs)
        for order in (np.array([[0, 1], [0, 1]]), np.array([[1, 0], [1, 0]]))
    ]
    assert money_grid(costs, 2).tolist() == [5.0, 10.0]
    assert areas == [1.0, 0.5]
