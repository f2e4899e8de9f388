"""Who takes part in means, ranks and tests: methods and data sets without a gap between them."""

from __future__ import annotations

from dataclasses import dataclass

from hyperdfs.bench.table import Results, ranks


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
    rank = ranks(matrix, higher_is_better=results.spec.higher_is_better).mean(axis=0)
    return Averages(
        block,
        dict(zip(block.labels, matrix.mean(axis=0).tolist(), strict=True)),
        dict(zip(block.labels, rank.tolist(), strict=True)),
    )
