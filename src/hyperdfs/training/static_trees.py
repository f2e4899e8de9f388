"""The order and the boosters of `static_trees`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from sklearn.model_selection import StratifiedKFold

from hyperdfs.training.boosting import Growth, Table, feature_gains, fit_booster, try_out
from hyperdfs.training.orders import complete, forward_order, worth
from hyperdfs.training.prices import relative_costs

ROWS_TO_CHOOSE = 6000  # more cost time and change no choice
ROUNDS_TO_CHOOSE, RATE_TO_CHOOSE = 60, 0.1
SECONDS_TO_CHOOSE = 150.0  # roughly; decides how many features are tried
MOST_CANDIDATES = 40


def folds(table: Table, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stratified folds: more of them where rows are few."""
    count = 5 if len(table) < 3000 else 3
    count = max(2, min(count, len(table)))
    split = StratifiedKFold(count, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer members than folds
        try:
            pairs = list(split.split(table.x, table.labels))
        except ValueError:  # every class has fewer members than folds
            pairs = [(np.arange(len(table)),) * 2]
    yield from pairs


@dataclass
class RefitLosses:
    """Cross-validated log-loss of trees grown afresh on each subset; remembers what it has done."""

    table: Table
    column_group: np.ndarray
    growth: Growth
    n_classes: int
    seed: int
    known: dict[tuple[int, ...], tuple[float, int]] = field(default_factory=dict)

    def __call__(self, subsets: list[list[int]]) -> np.ndarray:
        return np.array([self.curve(subset)[0] for subset in subsets])

    def curve(self, subset: list[int]) -> tuple[float, int]:
        """The loss at the best number of rounds, and that number."""
        key = tuple(sorted(subset))
        if key not in self.known:
            columns = np.flatnonzero(np.isin(self.column_group, subset))
            curves = [
                try_out(
                    self.table.take(fitted),
                    self.table.take(rest),
                    columns,
                    self.growth,
                    self.n_classes,
                    self.seed,
                ).losses
                for fitted, rest in folds(self.table, self.seed)
            ]
            mean = np.mean(curves, axis=0)
            self.known[key] = float(mean.min()), int(mean.argmin()) + 1
        return self.known[key]


def ranked_by_gain(losses: RefitLosses, costs: np.ndarray) -> list[int]:
    """Features by what they gain in trees on all of them."""
    columns = np.arange(losses.table.x.shape[1])
    booster = fit_booster(losses.table, columns, losses.growth, losses.n_classes, losses.seed)
    gains = feature_gains(booster, losses.column_group)
    return np.argsort(-worth(gains, relative_costs(costs)), kind="stable").tolist()


def most_candidates(losses: RefitLosses, n_features: int, budget: int) -> int:
    """How many features forward selection can afford to try: few for images, all of most tables."""
    n, n_columns = losses.table.x.shape
    inputs = n_columns / n_features * (budget + 1) / 2
    classes = losses.n_classes if losses.n_classes > 2 else 1
    # About 0.1 ms for a leaf, and 20 ns for a cell in a round.
    seconds = classes * losses.growth.rounds * (1e-4 * losses.growth.leaves + 2e-8 * n * inputs)
    n_folds = 5 if n < 3000 else 3
    return int(min(MOST_CANDIDATES, SECONDS_TO_CHOOSE / (seconds * budget * n_folds)))


def choose_order(
    losses: RefitLosses,
    ranking: list[int],
    budget: int,
    costs: np.ndarray,
    *,
    others: list[list[int]],
    step_done: Callable[[int], None],
) -> list[int]:
    """The best of several orders by the cross-validated loss of their beginnings.

    The features as ranked, by their gain in trees on all of them; forward selection among the best
    of these; and whatever `others` the caller has found. No single way wins everywhere: forward
    selection does not see features that pay only in pairs, gains do not see that one feature makes
    up for another.
    """
    orders = [ranking[:budget], *others]
    most = most_candidates(losses, len(costs), budget)
    if most > budget or most >= len(costs):
        orders.append(forward_order(losses, ranking[:most], budget, costs, step_done=step_done))
    areas = _areas(losses, orders, relative_costs(costs))
    return complete(orders[int(np.argmin(areas))], ranking)


def _areas(losses: RefitLosses, orders: list[list[int]], costs: np.ndarray) -> list[float]:
    """Mean loss over the money spent, up to what the cheapest order spends.

    The last beginning counts for one more purchase of mean price, so that with equal costs this is
    the mean over the budgets.
    """
    spent = [np.cumsum([0.0, *costs[order]]) for order in orders]
    limit = min(total[-1] for total in spent) + 1.0
    areas = []
    for order, money in zip(orders, spent, strict=True):
        steps = np.diff(np.append(np.minimum(money, limit), limit))
        areas.append(float(losses([order[:b] for b in range(len(order) + 1)]) @ steps / limit))
    return areas
