"""One order of purchase for everybody, by forward selection on the loss of subsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from hyperdfs.acquisition import Predictor
from hyperdfs.training.data import Rows, joined
from hyperdfs.training.masked import observe
from hyperdfs.training.prices import per_cost, relative_costs

Losses = Callable[[list[list[int]]], np.ndarray]  # subsets -> the loss of knowing each
MOST_PAIRS = 500
FEWEST_ROWS, MOST_ROWS = 300, 1000
AT_ONCE = 32_000  # rows of all subsets together


def worth(gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """`per_cost` of arrays, in double precision."""
    return per_cost(*(torch.tensor(array, dtype=torch.float64) for array in (gain, cost))).numpy()


def forward_order(
    losses: Losses,
    candidates: Sequence[int],
    budget: int,
    costs: np.ndarray,
    *,
    lookahead: bool = False,
    step_done: Callable[[int], None] = lambda _: None,
) -> list[int]:
    """The first `budget` of the candidates: each time the one that is worth most.

    With lookahead a feature is worth, besides what it gains by itself, what its best pair gains:
    some features pay only in pairs (longitude and latitude), which a plain greedy choice never
    finds. Tables with more than `MOST_PAIRS` pairs are left without.
    """
    costs = relative_costs(np.asarray(costs, float))
    order: list[int] = []
    current = float(losses([[]])[0])
    while len(order) < min(budget, len(candidates)):
        free = [j for j in candidates if j not in order]
        single = losses([[*order, j] for j in free])
        score = worth(current - single, costs[free])
        pairs = list(combinations(range(len(free)), 2))
        if lookahead and pairs and len(pairs) <= MOST_PAIRS:
            ends = np.array([[free[a], free[b]] for a, b in pairs])
            double = losses([[*order, *pair] for pair in ends.tolist()])
            both = worth(current - double, costs[ends].mean(1))
            best = np.full(len(free), -np.inf)
            for pair, value in zip(pairs, both, strict=True):
                best[list(pair)] = np.maximum(best[list(pair)], value)
            score = score + best
        pick = int(score.argmax())
        order.append(free[pick])
        current = float(single[pick])
        step_done(len(order))
    return order


def complete(order: Sequence[int], ranking: Sequence[int]) -> list[int]:
    """The order followed by the features it lacks, as they are ranked."""
    return [*order, *(j for j in ranking if j not in set(order))]


def rows_to_choose(train: Rows, valid: Rows) -> Rows:
    """The validation rows or, where these are too few to tell features apart, all rows."""
    return valid if len(valid) >= FEWEST_ROWS else joined(train, valid)


def subset_losses(
    predictor: Predictor, rows: Rows, generator: torch.Generator, *, most_rows: int = MOST_ROWS
) -> Losses:
    """Mean cross-entropy of a predictor on up to `most_rows` of the rows, for any subsets.

    Rows of all subsets go through the predictor together, so that a step of the forward selection
    with hundreds of candidates is a few large batches.
    """
    rows = rows.take(torch.randperm(len(rows), generator=generator)[:most_rows])
    n, n_features = len(rows), rows.columns.n_features

    def losses(subsets: list[list[int]]) -> np.ndarray:
        masks = torch.zeros(len(subsets), n_features)
        for mask, subset in zip(masks, subsets, strict=True):
            mask[subset] = 1.0
        parts = []
        for some in masks.split(max(1, AT_ONCE // n)):
            repeated = rows.take(torch.arange(n).repeat(len(some)))
            known = observe(repeated, some.repeat_interleave(n, 0))
            proba = predictor.proba(known.x, known.mask)
            parts.append((_log_losses(proba, repeated) * known.weight).view(-1, n).mean(1))
        return torch.cat(parts).cpu().double().numpy()

    return losses


def _log_losses(proba: Tensor, rows: Rows) -> Tensor:
    return -(proba.clamp_min(1e-7).log() * rows.target).sum(1)
