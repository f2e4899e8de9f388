"""Bands over folds, agreement of purchases and shares of features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_stores import record
from hyperdfs.bench.curves import acquisition_band, cost_band, fit_times, prices_differ
from hyperdfs.bench.curves_orders import (
    bought_share,
    budget_matrix,
    favourites,
    jaccard_by_budget,
    jaccard_matrix,
    majority_set,
    mean_step,
    step_shares,
)
from hyperdfs.bench.table import tabulate

N_FEATURES = 6


def test_band_is_mean_and_population_std_over_folds_after_seeds() -> None:
    cells = [
        record("wine", "vip", [0.0, 0.4, 0.6], fold=0, seed=0),
        record("wine", "vip", [0.0, 0.6, 0.6], fold=0, seed=1),
        record("wine", "vip", [0.2, 0.9, 1.0], fold=1, seed=0),
    ]
    band = acquisition_band(cells)
    assert band.x == (0, 1, 2)
    assert band.mean == pytest.approx((0.1, 0.7, 0.8))
    assert band.std == pytest.approx((0.1, 0.2, 0.2))


def test_cost_band_puts_money_on_the_axis() -> None:
    cell = record("heart", "vip", [0.1, 0.5, 0.9], costs=[1, 2, 3, 6])
    assert prices_differ(cell)
    assert not prices_differ(record("wine", "vip", [0.1, 0.5, 0.6]))
    band = cost_band([cell])
    assert band.x == (0, 3, 6)
    assert band.mean == (0.1, 0.5, 0.9)


def test_fit_times_by_size() -> None:
    cells = [
        record("bank", "vip", [0, 0.5, 0.5], n_train=900, fit_seconds=8, n_folds=1),
        record("wine", "vip", [0, 0.5, 0.5], n_train=100, fit_seconds=2, n_folds=1),
        record("wine", "moe", [0, 0.5, 0.5], n_train=100, fit_seconds=0, n_folds=1),
    ]
    times = fit_times(tabulate(cells))
    assert [(t.dataset, t.n_train, t.seconds) for t in times["vip"]] == [
        ("wine", 100, 1),
        ("bank", 900, 4),
    ]
    assert "moe" not in times  # no time was recorded


@st.composite
def orders(draw: st.DrawFn, n_rows: int = 4) -> np.ndarray:
    """Purchases without repetition; some rows stop early."""
    rows = []
    for _ in range(n_rows):
        bought = draw(st.permutations(range(N_FEATURES)))[:4]
        stop = draw(st.integers(0, 4))
        rows.append([*bought[:stop], *[-1] * (4 - stop)])
    return np.array(rows)


@given(orders(), orders())
def test_jaccard_against_sets(a: np.ndarray, b: np.ndarray) -> None:
    found = jaccard_by_budget(a, b)
    for budget in range(1, 5):
        shares = []
        for row_a, row_b in zip(a, b, strict=True):
            left, right = set(row_a[:budget]) - {-1}, set(row_b[:budget]) - {-1}
            shares.append(len(left & right) / len(left | right) if left | right else 1.0)
        assert found[budget - 1] == pytest.approx(np.mean(shares))


@given(orders(), orders())
def test_jaccard_matrix_is_symmetric_with_ones(a: np.ndarray, b: np.ndarray) -> None:
    matrix = jaccard_matrix([a, b, a])
    assert np.array_equal(matrix, matrix.T)
    assert np.allclose(np.diag(matrix), 1)
    assert matrix[0, 2] == 1


@given(orders())
def test_shares_count_rows(order: np.ndarray) -> None:
    shares = step_shares(order, N_FEATURES)
    assert shares.shape == (4, N_FEATURES)
    for feature in range(N_FEATURES):
        held = (order == feature).any(axis=1).mean()
        assert bought_share(order, N_FEATURES)[feature] == pytest.approx(held)
        steps = np.nonzero(order == feature)[1] + 1
        expected = steps.mean() if len(steps) else np.nan
        assert mean_step(order, N_FEATURES)[feature] == pytest.approx(expected, nan_ok=True)


def test_majority_sets_and_their_agreement() -> None:
    order = np.array([[0, 1, 2], [0, 1, 3], [1, 0, 2]])
    assert majority_set(order, 1) == {0}
    assert majority_set(order, 3) == {0, 1, 2}
    matrix = budget_matrix(order)
    assert matrix[0].tolist() == pytest.approx([1, 1 / 2, 1 / 3])
    assert np.array_equal(matrix, matrix.T)
    assert majority_set(np.full((2, 3), -1), 2) == frozenset()


def test_favourites_are_ordered_by_all_methods_together() -> None:
    found, shares = favourites(
        {"a": np.array([[0, 1], [0, 2]]), "b": np.array([[1, 0], [1, 0]])}, 4, most=2
    )
    assert found == [0, 1]
    assert shares.tolist() == [[1, 1], [0.5, 1]]
