"""How methods look in every picture of the page, and which of them it opens with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from hyperdfs.bench.cells import CellRecord
from hyperdfs.bench.table import Results, ranks
from hyperdfs.bench.table_groups import FULL, group_of
from hyperdfs.report.benchmark.content import Method

# Of ten hues, in the order in which they are told apart best; the first are ours.
HUES = (0, 1, 2, 3, 4, 6, 9, 5, 8, 7)
MOST_CURVES = 6  # more at a time are a tangle
OURS_AT_MOST = 2  # of them
LEVELS = ("oracle", FULL)  # lines that others are measured by


def list_methods(results: Results, records: Sequence[CellRecord], reference: str) -> list[Method]:
    """Labels in the order of the tables, each with the look it has in every picture."""
    by_label = {record.key.label: record for record in records}
    ticked = first_seen(results, reference)
    hues = deal_hues(results, ticked)
    methods = []
    for i, label in enumerate(results.labels):
        record = by_label[label]
        sizes = [s.parameters for s in results.scores.values() if s.label == label and s.parameters]
        methods.append(
            Method(
                label=label,
                slug=f"m{i}",
                hue=hues[label],
                stroke=group_of(record.method).name,
                preset=record.preset,
                parameters=_span(sizes),
                ticked=label in ticked,
                what=what_is(label, record),
            )
        )
    return methods


def deal_hues(results: Results, ticked: set[str]) -> dict[str, int | None]:
    """The ticked methods choose first, so that no two of them are alike; the others follow."""
    drawn = [label for label in results.labels if label not in LEVELS]
    ordered = sorted(drawn, key=lambda label: label not in ticked)
    hues: dict[str, int | None] = dict.fromkeys(results.labels)
    return hues | {label: HUES[i % len(HUES)] for i, label in enumerate(ordered)}


def first_seen(results: Results, reference: str) -> set[str]:
    """Whose curves are drawn at first: all where they are few, else the first of `by_interest`,
    and the best of every data set on which none of these ran."""
    if len(results.labels) <= MOST_CURVES:
        return set(results.labels)
    seen = set(by_interest(results, reference)[:MOST_CURVES])
    for dataset in results.datasets:
        ran = {label: s.mean for (name, label), s in results.scores.items() if name == dataset}
        if not seen & set(ran):
            seen.add(max(ran, key=lambda label: ran[label]))
    return seen


def by_interest(results: Results, reference: str) -> list[str]:
    """The reference, ours, the lines above them all, the best of the other methods and of the
    controls, and then who is left by mean place.

    A control is among them because it may be all that ran beside ours on a data set.
    """
    places = mean_places(results)
    group = {score.label: score.group.name for score in results.scores.values()}
    n_sets = Counter(score.label for score in results.scores.values())
    ours = [label for label in places if group[label] == "ours"]
    # A variant that ran on one set comes later.
    ours.sort(key=lambda label: (label != reference, -n_sets[label]))
    others = [label for label in places if group[label] not in ("ours", "controls")]
    controls = [label for label in places if group[label] == "controls"]
    levels = [label for label in LEVELS if label in group]
    first = [*ours[:OURS_AT_MOST], *levels, *others[:1], *controls[:1]]
    return list(dict.fromkeys([reference, *first, *places, *results.labels]))


def mean_places(results: Results) -> dict[str, float]:
    """Mean rank as a share of who was ranked, over the data sets that each has; best first."""
    places: dict[str, list[float]] = defaultdict(list)
    for dataset in results.datasets:
        scores = [s for (name, _), s in results.scores.items() if name == dataset and s.ranked]
        if len(scores) > 1:
            place = ranks(np.array([[score.mean for score in scores]]))[0] / len(scores)
            for score, value in zip(scores, place.tolist(), strict=True):
                places[score.label].append(value)
    means = {label: fmean(values) for label, values in places.items()}
    return dict(sorted(means.items(), key=lambda item: item[1]))


def what_is(label: str, record: CellRecord) -> str:
    """The title of its method in the registry; a variant says whose it is."""
    from hyperdfs.methods import METHODS

    title = METHODS[record.method].title if record.method in METHODS else ""
    if label == record.method:
        return title
    preset = "" if record.preset == "default" else f", preset {record.preset}"
    return f"a variant of {record.method}{preset}"


def _span(sizes: Sequence[int]) -> str:
    if not sizes:
        return ""
    low, high = min(sizes), max(sizes)
    return f"{low:,}" if low == high else f"{low:,} – {high:,}"
