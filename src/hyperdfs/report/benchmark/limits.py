"""What a reader must keep in mind: who has not run where, what was cut, what was checked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from hyperdfs.bench.cells import CellRecord
from hyperdfs.bench.table import Results
from hyperdfs.bench.table_block import block_of
from hyperdfs.bench.table_grid import Grid, verdicts
from hyperdfs.report.benchmark.content import PaperNote

ORACLE = "oracle"


def limits(results: Results, records: Sequence[CellRecord]) -> list[tuple[str, str]]:
    """Head and text of each limit that this store has."""
    found = (
        ("Not all methods ran everywhere.", unfinished(results)),
        ("Not all rows take part.", capped(results)),
        ("An oracle is no upper bound of macro-F1.", oracle_below(results)),
    )
    return [(head, text) for head, text in found if text]


def unfinished(results: Results) -> str:
    """Which data sets some of the compared methods have not finished."""
    block = block_of(results)
    missing: dict[int, list[str]] = defaultdict(list)
    for dataset in results.datasets:
        if dataset not in block.datasets:
            done = sum(
                score.complete
                for (name, label), score in results.scores.items()
                if name == dataset and label in block.labels
            )
            missing[done].append(dataset)
    if not block.datasets or not missing:
        return ""
    n_sets, n_methods = sum(map(len, missing.values())), len(block.labels)
    which = "; ".join(
        f"{done} of the {n_methods} on {', '.join(missing[done])}" for done in sorted(missing)
    )
    return (
        f"On {n_sets} of {len(results.datasets)} data sets not every method compared has "
        f"finished: {which}. What is shown there has no part in means and ranks over all kinds of "
        "data, in tests and in the count of wins."
    )


def capped(results: Results) -> str:
    """Which data sets, by the names of the tables, were cut to how many rows."""
    caps: dict[int, set[str]] = defaultdict(set)
    for score in results.scores.values():
        if score.max_rows is not None:
            caps[score.max_rows].add(score.dataset)
    if not caps:
        return ""
    which = "; ".join(f"{cap:,} rows of {', '.join(sorted(caps[cap]))}" for cap in sorted(caps))
    return f"At most {which} each, with the classes in their proportions."


def oracle_below(results: Results) -> str:
    """Why an oracle can be beaten, and where it is; empty if there is none."""
    oracles = {name: s for (name, label), s in results.scores.items() if label == ORACLE}
    if not oracles:
        return ""
    best: dict[str, float] = {}
    for (name, _), score in results.scores.items():
        if score.ranked and score.complete:
            best[name] = max(best.get(name, score.mean), score.mean)
    below = [d for d in results.datasets if d in oracles and best.get(d, 0.0) > oracles[d].mean]
    here = f" Here a method is above it on {', '.join(below)}." if below else ""
    return (
        "The oracle knows the true distribution and predicts the most probable class. Where "
        "classes are uneven, that class is too seldom the rare one for macro-F1, to which every "
        "class counts the same: a method that predicts rare classes more often can be above it. "
        f"Elsewhere the noise of the test rows can do the same.{here}"
    )


def checks(records: Sequence[CellRecord]) -> str:
    """How many finished cells passed each check; why not the others."""
    done = [record for record in records if record.status == "done"]
    passed = Counter(name for r in done for name, good in r.checks.items() if good)
    failed = Counter(name for r in done for name, good in r.checks.items() if not good)
    lines = []
    for name in sorted(passed | failed):
        unasked = len(done) - passed[name] - failed[name]
        others = [f"{failed[name]:,} failed"] * bool(failed[name])
        others += [f"{unasked:,} not asked"] * bool(unasked)
        why = f" ({', '.join(others)})" if others else ""
        lines.append(f"{name}: {passed[name]:,} of {len(done):,} cells{why}")
    return "; ".join(lines)


def paper_notes(grid: Grid) -> list[PaperNote]:
    """What there is to say of a data set beside the paper's, once for all that share it."""
    notes = []
    for verdict, datasets in verdicts(grid.rows).items():
        answer, _, why = verdict.partition(": ")
        notes.append(PaperNote(datasets, answer == "yes", why))
    return notes
