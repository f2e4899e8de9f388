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
from hyperdfs.bench.table import Results, averages
from hyperdfs.report.benchmark.content import Tests

PREFERRED = ("hyperdfs", "hyperens")


def reference_of(results: Results) -> str:
    """The method that others are held against: ours if it took part, else the best by mean."""
    labels = results.ranked_labels() or results.labels
    for label in PREFERRED:
        if label in labels:
            return label
    mean = averages(results).mean
    return max(labels, key=lambda label: mean.get(label, float("-inf")))


def significance(results: Results, reference: str) -> Tests:
    """Friedman and Wilcoxon over the data sets that all ranked methods have finished."""
    labels = results.ranked_labels()
    datasets = results.common(labels) if labels else []
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
    )


def headline(results: Results, tests: Tests) -> list[str]:
    """Three sentences at most; each holds whatever the numbers are."""
    means = averages(results)
    sentences = []
    if len(means.rank) > 1:
        best = min(means.rank, key=lambda label: (means.rank[label], -means.mean[label]))
        top = max(means.mean, key=lambda label: means.mean[label])
        where = f"over {_count(len(means.datasets), 'data set')}"
        if best == top:
            sentences.append(
                f"{best} has the best mean AUAC-F1 ({means.mean[best]:.1f} %) and the best mean "
                f"rank ({means.rank[best]:.2f} of {len(means.rank)}) {where}."
            )
        else:
            sentences.append(
                f"{top} has the best mean AUAC-F1 ({means.mean[top]:.1f} %) and {best} the best "
                f"mean rank ({means.rank[best]:.2f} of {len(means.rank)}) {where}."
            )
    wins = winners(results)
    if wins:
        label, count = wins.most_common(1)[0]
        total = sum(1 for d in results.datasets if _rivals(results, d) > 1)
        sentences.append(f"{label} is ahead on {count} of {_count(total, 'data set')}.")
    if tests.comparisons:
        behind = [c for c in tests.comparisons if c.significant and c.difference > 0]
        ahead = [c for c in tests.comparisons if c.significant and c.difference < 0]
        n = len(tests.comparisons)
        text = f"{tests.reference} is significantly better than {len(behind)} of {n} other methods"
        text += f" and significantly worse than {len(ahead)}" if ahead else ""
        sentences.append(f"{text} (Wilcoxon over data sets, Holm-corrected).")
    return sentences


def winners(results: Results) -> Counter[str]:
    """How often each ranked method has the best mean on a data set."""
    wins: Counter[str] = Counter()
    for dataset in results.datasets:
        if _rivals(results, dataset) < 2:
            continue
        scores = [s for (d, _), s in results.scores.items() if d == dataset and s.ranked]
        top = max(score.mean for score in scores if score.complete)
        wins.update(score.label for score in scores if score.complete and score.mean == top)
    return wins


def _rivals(results: Results, dataset: str) -> int:
    return sum(s.ranked and s.complete for (d, _), s in results.scores.items() if d == dataset)


def facts(results: Results, records: Sequence[CellRecord]) -> dict[str, str]:
    """The size of the benchmark in a few figures."""
    done = [record for record in records if record.status == "done"]
    hours = sum(record.seconds.fit_cpu + record.seconds.acquire_cpu for record in done) / 3600
    return {
        "methods": str(len(results.labels)),
        "data sets": str(len(results.datasets)),
        "fits": f"{len(done):,}",
        "processor hours": f"{hours:.1f}" if hours < 100 else f"{hours:.0f}",
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
    checks = sorted({name for record in records for name, good in record.checks.items() if good})
    if checks:
        found["Checks passed"] = ", ".join(checks)
    return found


def _listed(values: set[str]) -> str:
    return ", ".join(sorted(values))


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"
