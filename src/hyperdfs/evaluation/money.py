"""Macro-F1 against money rather than against the number of purchases."""

from __future__ import annotations

import numpy as np

from hyperdfs.metrics import macro_f1

ROUNDING = 1e-9  # relative; sums of prices are not exact


def affordable(spent: np.ndarray, money: float) -> np.ndarray:
    """The last step each row can pay for, (n,), from its spending (n, steps) and one limit."""
    steps: np.ndarray = (spent <= money * (1 + ROUNDING)).sum(1) - 1
    return steps


def money_grid(costs: np.ndarray, budget: int) -> np.ndarray:
    """`budget` equally spaced limits up to the price of `budget` features of mean cost.

    The grid depends on the data set alone, so that methods which buy dear and methods which buy
    cheap are compared at the same limits.
    """
    grid: np.ndarray = np.mean(costs) * np.arange(1, budget + 1)
    return grid


def cost_area(labels: np.ndarray, proba: np.ndarray, spent: np.ndarray, costs: np.ndarray) -> float:
    """Mean macro-F1 over the limits of `money_grid`; each row stops before it would exceed one.

    Shape: labels ``(n,)``, proba ``(n, budget + 1, C)``, spent ``(n, budget + 1)``, costs ``(M,)``.
    Where all features cost the same this is the mean macro-F1 over 1..budget purchases.
    """
    rows, n_classes = np.arange(len(labels)), proba.shape[2]
    predicted = proba.argmax(2)
    grid = money_grid(costs, proba.shape[1] - 1)
    reached = [predicted[rows, affordable(spent, money)] for money in grid]
    return float(np.mean([macro_f1(labels, at, n_classes) for at in reached]))
