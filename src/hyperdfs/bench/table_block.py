"""Who takes part in means, ranks and tests: methods and data sets without a gap between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperdfs.bench.paper import published
from hyperdfs.bench.table import Results, Score, ranks


@dataclass(frozen=True)
class Block:
    """Ranked methods that have all finished the same data sets, and those that have not."""

    datasets: list[str]
    labels: list[str]
    left_out: list[str]

    def absent(self) -> str:
        """A sentence on who is left out; empty if nobody is.

        >>> Block(["wine"], ["vip", "moe"], ["mine"]).absent()
        'mine is left out of means, ranks and tests: it has finished too few data sets.'
        """
        if not self.left_out:
            return ""
        verb, they = ("is", "it has") if len(self.left_out) == 1 else ("are", "they have")
        return (
            f"{', '.join(self.left_out)} {verb} left out of means, ranks and tests: "
            f"{they} finished too few data sets."
        )


def block_of(results: Results) -> Block:
    """The block on which Friedman's test has most degrees of freedom, (methods - 1)(data sets - 1).

    Methods are left out one by one, whoever has finished fewest data sets first and among equals
    the last of the table; what remains shares the more data sets. Scores have no say in it. A rank
    needs two methods: where no two share a data set, there is no block.
    """
    ranked = results.ranked_labels()
    finished = {label: len(results.common([label])) for label in ranked}
    by_progress = sorted(ranked, key=lambda label: -finished[label])
    best = Block([], [], [])
    most = -1
    for size in range(len(ranked), min(2, len(ranked)) - 1, -1):
        labels = [label for label in ranked if label in by_progress[:size]]
        datasets = results.common(labels) if labels else []
        freedom = (len(labels) - 1) * (len(datasets) - 1)
        if datasets and freedom > most:
            absent = [label for label in ranked if label not in labels]
            best, most = Block(datasets, labels, absent), freedom
    return best


@dataclass(frozen=True)
class Averages:
    """Mean score and mean rank of the methods of a block."""

    block: Block
    mean: dict[str, float]
    rank: dict[str, float]

    @property
    def datasets(self) -> list[str]:
        return self.block.datasets


def averages(results: Results) -> Averages:
    """Over the data sets of the block; empty if there is none."""
    block = block_of(results)
    if not block.datasets:
        return Averages(block, {}, {})
    matrix = results.matrix(block.datasets, block.labels)
    return _averaged(block, matrix, higher_is_better=results.spec.higher_is_better)


def _averaged(block: Block, matrix: np.ndarray, *, higher_is_better: bool) -> Averages:
    rank = ranks(matrix, higher_is_better=higher_is_better).mean(axis=0)
    return Averages(
        block,
        dict(zip(block.labels, matrix.mean(axis=0).tolist(), strict=True)),
        dict(zip(block.labels, rank.tolist(), strict=True)),
    )


def beside_paper(results: Results) -> tuple[Averages, Averages] | None:
    """Ours and the paper's, over the part of the block that the paper has too and that compares.

    The paper's means and ranks are computed anew from its scores: those that it prints are over
    other data sets and methods. None where fewer than two data sets or methods are left.
    """
    block = block_of(results)
    printed = {
        (dataset, label): _printed(results.scores[dataset, label])
        for dataset in block.datasets
        for label in block.labels
    }
    labels = [m for m in block.labels if any(printed[d, m] is not None for d in block.datasets)]
    datasets = [d for d in block.datasets if all(printed[d, m] is not None for m in labels)]
    if results.metric != "f1_macro" or min(len(datasets), len(labels)) < 2:
        return None
    paper = [[printed[d, m] or 0.0 for m in labels] for d in datasets]
    shared = Block(datasets, labels, [])
    return (
        _averaged(shared, results.matrix(datasets, labels), higher_is_better=True),
        _averaged(shared, np.array(paper), higher_is_better=True),
    )


def _printed(score: Score) -> float | None:
    """The paper's mean for the same method on the same data, if it has one that compares."""
    row = score.counterpart
    if row is None or not row.comparable or score.label != score.method:
        return None
    found = published(score.source, score.method)
    return None if found is None else found.mean
