"""The words of the page: what came out, how sure it is, and how it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hyperdfs.bench.cells import CellRecord
from hyperdfs.bench.statistics import (
    FEWEST_DATASETS,
    FEWEST_METHODS,
    friedman,
    friedman_caveat,
    wilcoxon_caveat,
    wilcoxon_holm,
)
from hyperdfs.bench.table import Results
from hyperdfs.bench.table_block import averages, block_of
from hyperdfs.report.benchmark.content import Tests
from hyperdfs.report.benchmark.limits import checks
from hyperdfs.report.benchmark.svg import seconds

PREFERRED = ("hyperdfs", "hyperens")


def reference_of(results: Results) -> str:
    """The method that others are held against: ours if it took part, else the best by mean."""
    mean = averages(results).mean
    labels = list(mean) or results.ranked_labels() or results.labels
    for label in PREFERRED:
        if label in labels:
            return label
    return max(labels, key=lambda label: mean.get(label, float("-inf")))


def significance(results: Results, reference: str) -> Tests:
    """Friedman and Wilcoxon over the methods and data sets of which means and ranks are taken."""
    block = block_of(results)
    datasets, labels = block.datasets, block.labels
    matrix = results.matrix(datasets, labels)
    enough = len(datasets) >= FEWEST_DATASETS and len(labels) >= FEWEST_METHODS
    paired = datasets and reference in labels and len(labels) > 1
    return Tests(
        friedman=friedman(matrix, labels) if enough else None,
        friedman_note=friedman_caveat(len(datasets), len(labels)),
        comparisons=wilcoxon_holm(matrix, labels, reference=reference) if paired else [],
        wilcoxon_note=wilcoxon_caveat(len(datasets), len(labels) - 1) if paired else "",
        reference=reference,
        n_datasets=len(datasets),
        left_out=block.absent(),
    )


def headline(results: Results, tests: Tests) -> list[str]:
    """Three sentences at most; each holds whatever the numbers are."""
    return [
        sentence for sentence in (_leaders(results), _winners(results), _verdict(tests)) if sentence
    ]


def _leaders(results: Results) -> str:
    means = averages(results)
    if len(means.rank) < 2:
        return ""
    top = max(means.mean, key=lambda label: means.mean[label])
    least = min(means.rank.values())
    best = [label for label, rank in means.rank.items() if rank == least]
    n_shared, n_all = len(means.datasets), len(results.datasets)
    shared = _count(n_all, "data set") if n_shared == n_all else f"{n_shared} of {n_all} data sets"
    where = f"over {shared}"
    score, place = f"({means.mean[top]:.1f} %)", f"({least:.2f} of {len(means.rank)})"
    if best == [top]:
        return f"{top} has the best mean AUAC-F1 {score} and the best mean rank {place} {where}."
    have = "has" if len(best) == 1 else "share"
    return (
        f"{top} has the best mean AUAC-F1 {score}; {_and(best)} {have} the best mean rank {place} "
        f"{where}."
    )


def _winners(results: Results) -> str:
    block = block_of(results)
    wins = winners(results)
    if not wins:
        return ""
    most = max(wins.values())
    ahead = [label for label in block.labels if wins[label] == most]
    verb = "is" if len(ahead) == 1 else "are each"
    where = _count(len(block.datasets), "data set")
    if len(block.datasets) < len(results.datasets):
        where = f"the {where} that all {len(block.labels)} compared methods have finished"
    return f"{_and(ahead)} {verb} ahead on {most} of {where}."


def _verdict(tests: Tests) -> str:
    if not tests.comparisons:
        return ""
    if tests.wilcoxon_note:
        return (
            f"{_count(tests.n_datasets, 'data set')} cannot show that a difference is no accident."
        )
    better = sum(c.significant and c.difference > 0 for c in tests.comparisons)
    worse = sum(c.significant and c.difference < 0 for c in tests.comparisons)
    others = _count(len(tests.comparisons), "other method")
    also = f" and worse than {worse}" if worse else ""
    return (
        f"{tests.reference} is significantly better than {better} of {others}{also} "
        "(Wilcoxon over data sets, Holm-corrected)."
    )


def winners(results: Results) -> Counter[str]:
    """How often each ranked method has the best mean, on the data sets that all of them share.

    A win over the two or three controls that ran elsewhere says nothing of the other methods.
    """
    wins: Counter[str] = Counter()
    block = block_of(results)
    if len(block.labels) < 2:
        return wins
    for dataset in block.datasets:
        means = {label: results.scores[dataset, label].mean for label in block.labels}
        wins.update(label for label, mean in means.items() if mean == max(means.values()))
    return wins


def facts(results: Results, records: Sequence[CellRecord]) -> dict[str, str]:
    """The size of the benchmark in a few figures."""
    done = [record for record in records if record.status == "done"]
    spent = sum(record.seconds.fit_cpu + record.seconds.acquire_cpu for record in done)
    return {
        "methods": str(len(results.labels)),
        "data sets": str(len(results.datasets)),
        "fits": f"{len(done):,}",
        "of processor time": seconds(spent),
        "failed": str(len(records) - len(done)),
    }


def settings(records: Sequence[CellRecord]) -> dict[str, str]:
    """Versions, folds, seeds and dates; where cells differ, all values."""
    names = list(dict.fromkeys(name for record in records for name in record.versions))
    found = {
        "Folds": _listed({str(record.n_folds) for record in records}),
        "Seeds": _listed({str(record.key.seed) for record in records}),
    }
    for name in names:
        found[name] = _listed({r.versions[name] for r in records if name in r.versions})
    dates = sorted(record.finished[:10] for record in records if record.finished)
    if dates:
        found["Run"] = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    peak = max(record.peak_memory_mb for record in records)
    if peak:
        found["Largest memory of a fit"] = f"{peak:,.0f} MB"
    found["Checks passed"] = checks(records)
    return found


def _listed(values: set[str]) -> str:
    return ", ".join(sorted(values))


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
