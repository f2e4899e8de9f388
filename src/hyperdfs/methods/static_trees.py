"""Control: the features ranked once, boosted trees for each budget. What practitioners do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from pydantic import Field

from hyperdfs.config import TableConfig
from hyperdfs.masks import MaskSampler, sizes_up_to
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.trees import Booster, Forest
from hyperdfs.predictors.trees import PrefixTreesPredictor, TreesPredictor
from hyperdfs.selectors.static import FittedOrderSelector
from hyperdfs.training.boosting import Growth, Table, fit_booster, to_table
from hyperdfs.training.data import Rows, joined
from hyperdfs.training.masked_trees import fit_masked_trees
from hyperdfs.training.orders import MOST_ROWS, forward_order, rows_to_choose, subset_losses
from hyperdfs.training.static_trees import (
    RATE_TO_CHOOSE,
    ROUNDS_TO_CHOOSE,
    ROWS_TO_CHOOSE,
    RefitLosses,
    choose_order,
    ranked_by_gain,
)

MANY_TREES = 400
MOST_CANDIDATES, FEW_CANDIDATES = 30, 12  # for a search through pairs
LOOKAHEAD_WORK = 20_000_000  # subsets times rows times trees in a step of that search
ROWS_FOR_ROUNDS = 20_000  # on which the number of rounds is found
MOST_BLANK = 0.01  # share of missing cells from which on trees have learned about them


class TreesConfig(TableConfig):
    """Configuration of the methods with boosted trees."""

    n_bins: int | None = Field(0, ge=0)  # trees find their own thresholds
    rounds: int = Field(200, ge=1)  # at most


def build(shape: Shape, config: TreesConfig, members: int) -> Model:
    forest, fitted = Forest(), Arrays("order", "sizes", "blank")
    predictor = PrefixTreesPredictor(forest, fitted, shape.columns())
    return Model(predictor, FittedOrderSelector(fitted), {"forest": forest, "fitted": fitted})


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    """Trees for any subset, an order, and then trees for each beginning of the order."""
    model = build(job.shape, job.config, job.members)
    rows = joined(train, valid)
    generator = job.generator()
    sampler = job.sampler(generator, sizes_up_to(job.max_budget))
    job.progress("any subset", 0, 1)
    anything = grow(job, train, valid, sampler)
    job.progress("any subset", 1, 1)
    order = _find_order(job, anything, train, valid, generator)
    sizes, boosters = _fit_beginnings(job, order, rows, sampler)
    forest, fitted = model.modules["forest"], model.modules["fitted"]
    assert isinstance(forest, Forest)
    assert isinstance(fitted, Arrays)
    forest.fill([*boosters, anything])
    fitted.set("order", torch.tensor(order))
    fitted.set("sizes", torch.tensor(sizes))
    fitted.set("blank", (1.0 - rows.available()).mean(0).cpu() > MOST_BLANK)
    return model.to(job.device)


def grow(job: Job, train: Rows, valid: Rows, sampler: MaskSampler) -> Booster:
    """Trees for any subset."""
    return fit_masked_trees(
        train,
        valid,
        sampler,
        n_classes=job.shape.n_classes,
        rounds=job.config.rounds,
        seed=job.seed,
    ).booster


def _find_order(
    job: Job, anything: Booster, train: Rows, valid: Rows, generator: torch.Generator
) -> list[int]:
    rows = joined(train, valid)
    chosen = torch.randperm(len(rows), generator=generator)[:ROWS_TO_CHOOSE]
    table = to_table(rows.take(chosen))
    growth = replace(
        Growth.for_rows(len(table), table.x.shape[1]),
        rounds=min(ROUNDS_TO_CHOOSE, job.config.rounds),
        rate=RATE_TO_CHOOSE,
    )
    group = np.asarray(job.shape.column_group)
    losses = RefitLosses(table, group, growth, job.shape.n_classes, job.seed)
    ranking = ranked_by_gain(losses, job.costs)
    # Images have many trees and many pairs, and neighbours that make up for each other.
    candidates = ranking[: MOST_CANDIDATES if len(anything.trees) <= MANY_TREES else FEW_CANDIDATES]
    return choose_order(
        losses,
        ranking,
        job.max_budget,
        job.costs,
        others=[_lookahead(job, anything, candidates, rows_to_choose(train, valid))],
        step_done=lambda done: job.progress("order", done, job.max_budget),
    )


def _lookahead(job: Job, anything: Booster, candidates: list[int], rows: Rows) -> list[int]:
    """Forward selection, pair by pair, with the trees that take any subset: no refitting."""
    forest = Forest()
    forest.fill([anything])
    predictor = TreesPredictor(forest.to(job.device), rows.columns)
    pairs = len(candidates) * (len(candidates) + 1) // 2
    most_rows = LOOKAHEAD_WORK // (pairs * max(1, len(anything.trees)))
    generator = job.generator()
    losses = subset_losses(
        predictor, rows, generator, most_rows=int(np.clip(most_rows, 100, MOST_ROWS))
    )
    return forward_order(losses, candidates, job.max_budget, job.costs, lookahead=True)


def _fit_beginnings(
    job: Job, order: list[int], rows: Rows, sampler: MaskSampler
) -> tuple[list[int], list[Booster]]:
    """A booster for each budget and for all features; none where the subset is withheld."""
    group = np.asarray(job.shape.column_group)
    budgets = sorted({*range(job.max_budget + 1), job.shape.n_features})
    sizes, boosters = [], []
    for done, size in enumerate(budgets, 1):
        subset = order[:size]
        mask = torch.zeros(job.shape.n_features)
        mask[subset] = 1.0
        table = to_table(rows, mask.expand(len(rows), -1), sampler)
        if len(table):
            columns = np.flatnonzero(np.isin(group, subset))
            growth = replace(Growth.for_rows(len(table), len(columns)), rounds=job.config.rounds)
            if len(columns):
                growth = replace(growth, rounds=best_rounds(job, table, columns, growth))
            sizes.append(size)
            boosters.append(fit_booster(table, columns, growth, job.shape.n_classes, job.seed))
        job.progress("trees", done, len(budgets))
    return sizes, boosters


def best_rounds(job: Job, table: Table, columns: np.ndarray, growth: Growth) -> int:
    """By cross-validation, on some of the rows where there are many."""
    rng = np.random.default_rng(job.seed)
    some = table.take(rng.permutation(len(table))[:ROWS_FOR_ROUNDS]).columns(columns)
    everything = np.arange(len(columns))
    losses = RefitLosses(some, everything, growth, job.shape.n_classes, job.seed)
    return losses.curve(everything.tolist())[1]


STATIC_TREES = Method(
    "static_trees",
    "One order for all, boosted trees for each budget",
    build,
    fit,
    config=TreesConfig,
    presets={"default": {}},
    family="control",
)
