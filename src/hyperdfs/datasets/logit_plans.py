"""What to buy in the gated logit family: the best plan for a known budget, and a nested order.

A *plan* knows the budget beforehand, so plans of different budgets need not be nested: AUAC* is
their mean macro-F1. A *policy* does not know it; its purchases are nested by nature.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product

import numpy as np

from hyperdfs.datasets.base import BoolArray, FloatArray, IntArray
from hyperdfs.datasets.logit_model import Branch, LogitModel, Pair, Term
from hyperdfs.datasets.masking import first_unobserved
from hyperdfs.datasets.scores import bayes_macro_f1, best_macro_f1, expected_confusions
from hyperdfs.datasets.smoothing import term_key

# The search needs only the ranking of subsets, so a moderate sample of its own will do.
_SEARCH_ROWS, _SEARCH_SEED = 40_000, 20_240
# A half-open pair is completed at once when its known member is this large. The mean macro-F1 of
# three pairs over budgets 2..10 is flat around 0.4 to 0.5.
PAIR_THRESHOLD = 0.45

Subset = tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """Buy the gate or not, then one set of features per branch."""

    gate: int | None
    subsets: tuple[Subset, ...]

    def mask(self, X: FloatArray) -> BoolArray:
        bits = np.zeros((len(self.subsets), X.shape[1]), dtype=bool)
        for row, subset in zip(bits, self.subsets, strict=True):
            row[list(subset)] = True
        if self.gate is None:
            return np.broadcast_to(bits[0], X.shape)
        bits[:, self.gate] = True
        return bits[(X[:, self.gate] >= 0).astype(np.int64)]


def is_pairs(branch: Branch) -> bool:
    """Several pairs: the one case where the values seen tell what to buy next."""
    return len(branch.terms) > 1 and all(isinstance(term, Pair) for term in branch.terms)


def plan_mask(model: LogitModel, X: FloatArray, budget: int) -> BoolArray:
    """Mask ``(n, M)`` of at most ``budget`` features under the best plan known for it."""
    if model.gate is None and is_pairs(model.branches[0]):
        return _pairs_plan(model.branches[0], X, budget)
    return best_plan(model, budget).mask(X)


def _pairs_plan(branch: Branch, X: FloatArray, budget: int) -> BoolArray:
    """Open one member of as many pairs as can be useful, complete those of largest |x|."""
    opened = min(len(branch.terms), max(1, budget - 1))
    members = np.array([term.features for term in branch.terms[:opened]])
    mask = np.zeros(X.shape, dtype=bool)
    mask[:, members[:, 0]] = True
    largest = np.argsort(-np.abs(X[:, members[:, 0]]), axis=1)[:, : budget - opened]
    np.put_along_axis(mask, members[:, 1][largest], True, axis=1)
    return mask


@lru_cache(maxsize=512)
def best_plan(model: LogitModel, budget: int) -> Plan:
    """The plan of largest macro-F1 among all that react to nothing but the gate."""
    plans = _flat_plans(model)
    if model.gate is not None:
        plans = {**plans, **_gated_plans(model)}
    affordable = [plan for plan in plans if _price(plan) <= budget]
    return max(affordable, key=lambda plan: plans[plan])


def _price(plan: Plan) -> int:
    return max(len(subset) for subset in plan.subsets) + (plan.gate is not None)


@lru_cache(maxsize=64)
def _flat_plans(model: LogitModel) -> dict[Plan, float]:
    """Macro-F1 of one set for all rows, the gate not bought."""
    X, truth = _search_sample(model)
    oracle = model.oracle()
    scores = {}
    for parts in product(*(_subsets(branch) for branch in model.branches)):
        subset = tuple(sorted(i for part in parts for i in part))
        plan = Plan(None, (subset,))
        scores[plan] = bayes_macro_f1(oracle.posterior(X, plan.mask(X)), truth)
    return scores


@lru_cache(maxsize=64)
def _gated_plans(model: LogitModel) -> dict[Plan, float]:
    """Macro-F1 of the gate plus one set per branch; the branches' confusions simply add."""
    assert model.gate is not None
    X, truth = _search_sample(model)
    above = X[:, model.gate] >= 0
    oracle = model.oracle()
    confusions: list[dict[Subset, FloatArray]] = []
    for side, branch in zip((~above, above), model.branches, strict=True):
        rows, weights = X[side], truth[side]
        table = {}
        for subset in _subsets(branch):
            mask = np.isin(np.arange(model.n_features), [model.gate, *subset])
            table[subset] = expected_confusions(oracle.posterior(rows, mask), weights)
        confusions.append(table)
    below_table, above_table = confusions
    return {
        Plan(model.gate, (low, high)): best_macro_f1(below_table[low] + above_table[high])
        for low, high in product(below_table, above_table)
    }


def _search_sample(model: LogitModel) -> tuple[FloatArray, FloatArray]:
    X = np.random.default_rng(_SEARCH_SEED).standard_normal((_SEARCH_ROWS, model.n_features))
    return X, model.oracle().posterior(X, np.ones(model.n_features, dtype=bool))


def _subsets(branch: Branch) -> Iterator[Subset]:
    """Unions of whole terms, one for each set of exchangeable ones."""
    seen: set[tuple[tuple[str, float], ...]] = set()
    for size in range(len(branch.terms) + 1):
        for terms in combinations(branch.terms, size):
            key = tuple(sorted(term_key(term) for term in terms))
            if key not in seen:
                seen.add(key)
                yield tuple(i for term in terms for i in term.features)


@lru_cache(maxsize=64)
def nested_orders(model: LogitModel) -> IntArray:
    """Order of purchase per branch ``(n branches, M)``: gate, the branch's terms, all the rest.

    Terms are appended greedily, each time the one that leaves the best classifier.
    """
    orders = []
    first = [] if model.gate is None else [model.gate]
    for k in range(len(model.branches)):
        chosen = [*first, *_greedy_terms(model, k)]
        rest = [i for other in model.branches for i in other.features if i not in chosen]
        noise = [i for i in range(model.n_features) if i not in chosen and i not in rest]
        orders.append([*chosen, *dict.fromkeys(rest), *noise])
    return np.array(orders, dtype=np.int64)


def _greedy_terms(model: LogitModel, k: int) -> list[int]:
    X, truth = _search_sample(model)
    if model.gate is not None:
        side = (X[:, model.gate] >= 0) == (k == 1)
        X, truth = X[side], truth[side]
    base = [] if model.gate is None else [model.gate]
    oracle = model.oracle()

    def accuracy(term: Term, chosen: list[int]) -> float:
        mask = np.isin(np.arange(model.n_features), [*base, *chosen, *term.features])
        return float(np.trace(expected_confusions(oracle.posterior(X, mask), truth)[0]))

    chosen: list[int] = []
    left = list(model.branches[k].terms)
    while left:
        best = max(left, key=lambda term: accuracy(term, chosen))
        chosen += best.features
        left.remove(best)
    return chosen


def next_feature(model: LogitModel, values: FloatArray, observed: BoolArray) -> IntArray:
    """The policy: gate first, then the active branch; unobserved values must be 0."""
    orders = nested_orders(model)
    if model.gate is not None:
        return first_unobserved(observed, orders[(values[:, model.gate] >= 0).astype(np.int64)])
    pick = first_unobserved(observed, orders[0])
    if is_pairs(model.branches[0]):
        return _complete_large_pair(model.branches[0], values, observed, pick)
    return pick


def _complete_large_pair(
    branch: Branch, values: FloatArray, observed: BoolArray, otherwise: IntArray
) -> IntArray:
    """Complete the half-open pair of largest |x| if large enough or if no pair is left to open."""
    members = np.array([term.features for term in branch.terms])
    seen: BoolArray = observed[:, members]
    count = seen.sum(axis=2)
    half, untouched = count == 1, count == 0
    size = np.where(half, np.abs(values[:, members]).sum(axis=2), -1.0)
    best = size.argmax(axis=1)
    rows = np.arange(len(values))
    partner = members[best, seen[rows, best].argmin(axis=1)]
    opening = members[untouched.argmax(axis=1), 0]
    complete = half.any(axis=1) & ((size.max(axis=1) > PAIR_THRESHOLD) | ~untouched.any(axis=1))
    fallback = np.where(untouched.any(axis=1), opening, otherwise)
    return np.where(complete, partner, fallback).astype(np.int64)
