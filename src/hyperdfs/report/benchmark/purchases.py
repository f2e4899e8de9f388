"""Views of what was bought: agreement, favourite features, patches of images."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from hyperdfs.bench.curves_orders import (
    bought_share,
    budget_matrix,
    favourites,
    jaccard_by_budget,
    jaccard_matrix,
    mean_step,
    step_shares,
)
from hyperdfs.report.benchmark.content import Agreement, Frequencies, PatchMap
from hyperdfs.report.benchmark.store import Purchases

MOST_ROWS = 5_000  # more would not change a mean that is printed with two digits


def on_shared_rows(purchases: Mapping[str, Purchases]) -> dict[str, np.ndarray]:
    """Orders of the test rows that every method has, at most MOST_ROWS, evenly taken."""
    shared = reduce(np.intersect1d, [p.rows for p in purchases.values()])
    if len(shared) > MOST_ROWS:
        shared = shared[np.linspace(0, len(shared) - 1, MOST_ROWS).astype(int)]
    return {
        label: p.order[np.searchsorted(p.rows, shared)].astype(int)
        for label, p in purchases.items()
    }


def telling_budget(budget: int, n_features: int) -> int:
    """The last budget; half the features where it buys them all, since all then hold the same.

    >>> telling_budget(10, 49), telling_budget(8, 8)
    (10, 4)
    """
    return budget if budget < n_features else max(1, n_features // 2)


def agreement(
    orders: Mapping[str, np.ndarray], reference: str, n_features: int
) -> Agreement | None:
    """None where there is nothing to compare."""
    labels = list(orders)
    if len(labels) < 2 or not len(orders[labels[0]]):  # one method, or no row in common
        return None
    reference = reference if reference in orders else labels[0]
    budget = telling_budget(orders[reference].shape[1], n_features)
    return Agreement(
        reference=reference,
        labels=labels,
        n_rows=len(orders[reference]),
        budget=budget,
        by_budget={
            label: jaccard_by_budget(order, orders[reference]).tolist()
            for label, order in orders.items()
            if label != reference
        },
        pairwise=jaccard_matrix([order[:, :budget] for order in orders.values()]).tolist(),
        budgets={label: budget_matrix(order).tolist() for label, order in orders.items()},
    )


def frequencies(orders: Mapping[str, np.ndarray], names: Sequence[str]) -> Frequencies | None:
    """Of the 20 features that are bought most."""
    first = next(iter(orders.values()))
    if not len(first):
        return None
    budget = telling_budget(first.shape[1], len(names))
    early = {label: order[:, :budget] for label, order in orders.items()}
    chosen, shares = favourites(early, len(names))
    return Frequencies(budget, [names[f] for f in chosen], list(orders), shares.tolist())


def patch_map(label: str, order: np.ndarray, n_features: int) -> PatchMap:
    """Purchases on the grid; the number of patches is a square."""
    side = math.isqrt(n_features)
    steps = mean_step(order, n_features).reshape(side, side)
    return PatchMap(
        label=label,
        side=side,
        share=bought_share(order, n_features).reshape(side, side).tolist(),
        mean_step=[[None if math.isnan(v) else v for v in row] for row in steps.tolist()],
        steps=step_shares(order, n_features).reshape(-1, side, side).tolist(),
    )
