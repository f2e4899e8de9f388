"""What was bought: agreement between methods and how often each feature is chosen.

An order has shape (rows, budget): the features bought one after the other, -1 after the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def jaccard_by_budget(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Mean over rows of |A ∩ B| / |A ∪ B| after 1..budget purchases, (budget,).

    >>> jaccard_by_budget(np.array([[0, 1]]), np.array([[2, 1]])).tolist()
    [0.0, 0.3333333333333333]
    """
    steps = min(a.shape[1], b.shape[1])
    a, b = a[:, :steps], b[:, :steps]
    same = (a[:, :, None] == b[:, None, :]) & (a >= 0)[:, :, None]
    within = same.cumsum(axis=1).cumsum(axis=2)
    shared = within[:, np.arange(steps), np.arange(steps)]
    union = (a >= 0).cumsum(axis=1) + (b >= 0).cumsum(axis=1) - shared
    # Two rows that bought nothing agree.
    share = np.divide(shared, union, out=np.ones(shared.shape), where=union > 0)
    mean: np.ndarray = share.mean(axis=0)
    return mean


def jaccard_matrix(orders: Sequence[np.ndarray]) -> np.ndarray:
    """Agreement after the last purchase of every method with every other, (methods, methods)."""
    matrix = np.eye(len(orders))
    for i, a in enumerate(orders):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = jaccard_by_budget(a, orders[j])[-1]
    return matrix


def majority_set(order: np.ndarray, budget: int) -> frozenset[int]:
    """The features that the most rows hold after `budget` purchases, `budget` of them."""
    bought = order[:, :budget]
    counts = np.bincount(bought[bought >= 0])
    ranked = np.argsort(-counts, kind="stable")
    return frozenset(int(f) for f in ranked[:budget] if counts[f])


def budget_matrix(order: np.ndarray) -> np.ndarray:
    """Jaccard of the population's favourite features at budgets i and j, (budget, budget)."""
    sets = [majority_set(order, step) for step in range(1, order.shape[1] + 1)]
    return np.array([[len(a & b) / max(len(a | b), 1) for b in sets] for a in sets])


def bought_share(order: np.ndarray, n_features: int) -> np.ndarray:
    """Share of the rows that bought each feature, (features,)."""
    share: np.ndarray = step_shares(order, n_features).sum(axis=0)
    return share


def step_shares(order: np.ndarray, n_features: int) -> np.ndarray:
    """Share of the rows that bought each feature at each step, (budget, features)."""
    shares = [np.bincount(step[step >= 0], minlength=n_features) / len(order) for step in order.T]
    return np.stack(shares)


def mean_step(order: np.ndarray, n_features: int) -> np.ndarray:
    """Mean step, from 1, at which a feature is bought by those who buy it; NaN if nobody does."""
    shares = step_shares(order, n_features)
    total = shares.sum(axis=0)
    weighted = (np.arange(1, len(shares) + 1)[:, None] * shares).sum(axis=0)
    return np.divide(weighted, total, out=np.full(n_features, np.nan), where=total > 0)


def favourites(
    orders: Mapping[str, np.ndarray], n_features: int, *, most: int = 20
) -> tuple[list[int], np.ndarray]:
    """The features bought most by all methods together, and their shares, (features, methods)."""
    shares = np.stack([bought_share(order, n_features) for order in orders.values()], axis=1)
    total = shares.sum(axis=1)
    ranked = [int(f) for f in np.argsort(-total, kind="stable")[:most] if total[f] > 0]
    return ranked, shares[ranked]
