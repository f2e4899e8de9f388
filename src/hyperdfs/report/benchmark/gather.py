"""From a store of results to the content of the page."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from hyperdfs.bench.cells import CellRecord
from hyperdfs.bench.curves import acquisition_band, cost_band, fit_times, prices_differ
from hyperdfs.bench.table import Results, ranks, tabulate
from hyperdfs.bench.table_grid import grids, legend
from hyperdfs.bench.table_groups import FULL, GROUPS, group_of
from hyperdfs.datasets import dataset_info, dataset_names
from hyperdfs.errors import InputError
from hyperdfs.report.benchmark.content import (
    BenchmarkReport,
    DatasetView,
    Failure,
    Method,
    Revealed,
)
from hyperdfs.report.benchmark.images import revealed
from hyperdfs.report.benchmark.purchases import (
    agreement,
    frequencies,
    on_shared_rows,
    patch_map,
)
from hyperdfs.report.benchmark.store import Purchases, Store, open_store
from hyperdfs.report.benchmark.story import facts, headline, reference_of, settings, significance

N_HUES = 10
N_SHOWN = 3  # methods in pictures of single images
MOST_CURVES = 8  # more at a time are a tangle
BEST_OF_GROUP = 2

Progress = Callable[[str], None]


def gather(
    root: Path,
    records: list[CellRecord],
    *,
    page: Path,
    options: Sequence[str] = (),
    progress: Progress = lambda _: None,
) -> BenchmarkReport:
    """Everything on the page.

    `options` of the command have chosen these records from the store; `progress` is told the data
    set whose purchases are read.
    """
    results = tabulate(records)
    store = open_store(root, records, results)
    reference = reference_of(results)
    tests = significance(results, reference)
    views = []
    for dataset in results.datasets:
        progress(dataset)
        views.append(dataset_view(store, dataset, reference))
    methods = list_methods(results, records)
    drawn = {label for view in views for label in view.curves}
    shown = {method.stroke for method in methods}
    return BenchmarkReport(
        title="Benchmark of dynamic feature selection",
        headline=headline(results, tests),
        facts=facts(results, records),
        methods=methods,
        groups={group.name: group.title for group in GROUPS if group.name in shown},
        grids=grids(results, decimals=1),
        legend=legend(results),
        datasets=views,
        tests=tests,
        times={label: series for label, series in fit_times(results).items() if label in drawn},
        failures=[failure(record) for record in results.failed],
        settings=settings(records),
        commands=commands(root, records, page, options),
    )


def list_methods(results: Results, records: Sequence[CellRecord]) -> list[Method]:
    """Labels in the order of the tables, each with the look it has in every picture."""
    by_label = {record.key.label: record for record in records}
    ticked = first_seen(results)
    taken: Counter[str] = Counter()
    methods = []
    for i, label in enumerate(results.labels):
        record = by_label[label]
        group = group_of(record.method)
        if label in group.methods:
            hue = group.methods.index(label)
        else:
            hue = len(group.methods) + taken[group.name]
            taken[group.name] += 1
        shift = 0 if group.name == "ours" else 2  # the first hues are ours
        sizes = [s.parameters for s in results.scores.values() if s.label == label and s.parameters]
        methods.append(
            Method(
                label=label,
                slug=f"m{i}",
                hue=None if label == FULL else (hue + shift) % N_HUES,
                stroke=group.name,
                preset=record.preset,
                parameters=_span(sizes),
                ticked=label in ticked,
            )
        )
    return methods


def first_seen(results: Results) -> set[str]:
    """Whose curves are drawn at first: all where they are few, else ours, the best of each other
    group by their mean place on the data sets they have, and the lines above them all."""
    if len(results.labels) <= MOST_CURVES:
        return set(results.labels)
    places: dict[str, list[float]] = defaultdict(list)
    group = {score.label: score.group.name for score in results.scores.values()}
    for dataset in results.datasets:
        scores = [s for (name, _), s in results.scores.items() if name == dataset and s.ranked]
        if len(scores) > 1:
            place = ranks(np.array([[score.mean for score in scores]]))[0] / len(scores)
            for score, value in zip(scores, place.tolist(), strict=True):
                places[score.label].append(value)
    by_group: dict[str, list[str]] = defaultdict(list)
    for label in sorted(places, key=lambda label: fmean(places[label])):
        by_group[group[label]].append(label)
    best = {label for labels in by_group.values() for label in labels[:BEST_OF_GROUP]}
    return best | set(by_group["ours"]) | ({"oracle", FULL} & set(results.labels))


def _span(sizes: Sequence[int]) -> str:
    if not sizes:
        return ""
    low, high = min(sizes), max(sizes)
    return f"{low:,}" if low == high else f"{low:,} – {high:,}"


def dataset_view(store: Store, dataset: str, reference: str) -> DatasetView:
    """Curves and purchases of one data set."""
    cells = store.of(dataset)
    first = next(iter(cells.values()))[0]
    buyers = [label for label in cells if label != FULL] or list(cells)  # it buys anything
    purchases = {label: store.purchases(dataset, label) for label in buyers}
    orders = on_shared_rows(purchases)
    ceiling, title = bayes_ceiling(first.key.dataset, first.budget)
    n_features = len(first.feature_names)
    is_grid = first.kind == "images" and math.isqrt(n_features) ** 2 == n_features
    return DatasetView(
        name=dataset,
        anchor="data-" + re.sub(r"[^a-z0-9]+", "-", dataset.lower()),
        facts=describe(first),
        curves={label: acquisition_band(records) for label, records in cells.items()},
        ceiling=ceiling,
        ceiling_title=title,
        money=(
            {label: cost_band(cells[label]) for label in buyers} if prices_differ(first) else {}
        ),
        agreement=agreement(orders, reference, n_features),
        frequencies=frequencies(orders, first.feature_names),
        patches=[patch_map(label, orders[label], n_features) for label in orders if is_grid],
        images=_images(store, dataset, purchases, reference) if is_grid else [],
    )


def _images(
    store: Store, dataset: str, purchases: dict[str, Purchases], reference: str
) -> Sequence[Revealed]:
    """As the reference and the best others see them."""
    scores = {label: store.results.scores[dataset, label] for label in purchases}
    rivals = [label for label, score in scores.items() if score.ranked and label != reference]
    rivals.sort(key=lambda label: -scores[label].mean)
    chosen = [label for label in (reference, *rivals) if label in purchases][:N_SHOWN]
    source = scores[chosen[0]].source if chosen else dataset
    return revealed(source, {label: purchases[label] for label in chosen})


def describe(record: CellRecord) -> str:
    """Size of a data set in one line."""
    n_rows = record.n_train + record.n_test
    cap = f" (at most {record.key.max_rows:,})" if record.key.max_rows else ""
    return f"{n_rows:,} rows{cap}, {len(record.feature_names)} features, {record.n_classes} classes"


def bayes_ceiling(dataset: str, budget: int) -> tuple[dict[int, float], str]:
    """Macro-F1 that no buyer exceeds, at the first and last budget, where the truth is known."""
    try:
        ceiling = dataset_info(dataset).ceiling
    except InputError:  # a user's own table
        return {}, ""
    if ceiling is None:
        return {}, ""
    flat = ceiling.all_features_f1 / 100
    title = f"Bayes ceiling with all features (best AUAC known: {ceiling.auac:.1f})"
    return {1: flat, budget: flat}, title


def failure(record: CellRecord) -> Failure:
    key = record.key
    cell = f"{key.dataset} · {key.label} · fold {key.fold} · seed {key.seed}"
    return Failure(cell, record.reason())


def commands(
    root: Path, records: Sequence[CellRecord], page: Path, options: Sequence[str] = ()
) -> list[str]:
    """How to make the results and the page again; variants of a method need their plan, and tables
    of one's own their card."""
    labels = sorted({record.key.label for record in records})
    datasets = sorted({_argument(record.key.dataset) for record in records})
    seeds = 1 + max(record.key.seed for record in records)
    run = ["--methods", ",".join(labels), "--datasets", ",".join(datasets)]
    run += ["--folds", str(max(record.n_folds for record in records))]
    run += ["--seeds", str(seeds)] if seeds > 1 else []
    run += ["--profile", "quick"] if any(record.key.max_rows for record in records) else []
    run += ["--plan", "PLAN.toml"] if any(r.key.label != r.method for r in records) else []
    name = root.name or "DIR"
    return [
        shlex.join(["hyperdfs", "bench", "run", *run, "--out", name]),
        shlex.join(["hyperdfs", "bench", "table", "--out", name, *options]),
        shlex.join(["hyperdfs", "bench", "report", "--out", name, "--to", page.name, *options]),
    ]


def _argument(dataset: str) -> str:
    """What `bench run --datasets` takes for it: a name of the catalog, or a card."""
    return dataset if dataset.partition("@")[0] in dataset_names() else f"{dataset}.toml"
