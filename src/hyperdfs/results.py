"""What `acquire` returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperdfs.errors import InputError


@dataclass(frozen=True)
class Acquisition:
    """Simulated purchases for n rows.

    order : (n, budget) feature indices in the order of purchase, -1 after the last one.
    proba : (n, budget + 1, C) class probabilities after 0..budget purchases.
    cost : (n, budget + 1) money spent after 0..budget purchases.

    What was known at the start was not bought: it is in neither `order`, `cost` nor `masks`.
    """

    order: np.ndarray
    proba: np.ndarray
    cost: np.ndarray
    n_features: int

    @property
    def budget(self) -> int:
        return self.order.shape[1]

    def take(self, rows: np.ndarray) -> Acquisition:
        """The purchases of some of the rows."""
        return Acquisition(self.order[rows], self.proba[rows], self.cost[rows], self.n_features)

    def masks(self, budget: int) -> np.ndarray:
        """(n, M) bool: what had been bought after `budget` purchases."""
        whole = isinstance(budget, int | np.integer) and not isinstance(budget, bool)
        if not whole or not 0 <= budget <= self.budget:
            raise InputError(
                f"budget must be a whole number between 0 and the {self.budget} purchases of this "
                f"run, got {budget!r}; acquire with a larger budget."
            )
        bought = np.zeros((len(self.order), self.n_features), bool)
        rows, steps = np.nonzero(self.order[:, :budget] >= 0)
        bought[rows, self.order[rows, steps]] = True
        return bought


def normalised(proba: np.ndarray) -> np.ndarray:
    """Probabilities in double precision that sum to 1 as nearly as it can; (n, C)."""
    exact = proba.astype(float)
    result: np.ndarray = exact / exact.sum(-1, keepdims=True)
    return result


def make_acquisition(order: np.ndarray, proba: np.ndarray, costs: np.ndarray) -> Acquisition:
    paid = np.where(order >= 0, costs[order], 0.0)
    spent = np.concatenate([np.zeros((len(order), 1)), np.cumsum(paid, axis=1)], axis=1)
    return Acquisition(order, proba, spent, len(costs))
