"""From a store of results to the content of the page."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from hyperdfs.bench.cells import CellRecord
from hyperdfs.bench.curves import acquisition_band, cost_band, fit_times, prices_differ
from hyperdfs.bench.table import tabulate
from hyperdfs.bench.table_grid import grids, legend
from hyperdfs.bench.table_groups import FULL, GROUPS
from hyperdfs.datasets import dataset_names
from hyperdfs.report.benchmark.about import ceiling, description, money_unit, prices, size
from hyperdfs.report.benchmark.content import BenchmarkReport, DatasetView, Failure, Revealed
from hyperdfs.report.benchmark.images import revealed
from hyperdfs.report.benchmark.limits import ORACLE, limits
from hyperdfs.report.benchmark.looks import list_methods
from hyperdfs.report.benchmark.purchases import (
    agreement,
    frequencies,
    on_shared_rows,
    patch_map,
)
from hyperdfs.report.benchmark.store import Purchases, Store, open_store
from hyperdfs.report.benchmark.story import facts, headline, reference_of, settings, significance

N_SHOWN = 3  # methods in pictures of single images

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
    for dataset, anchor in anchors(results.datasets).items():
        progress(dataset)
        views.append(dataset_view(store, dataset, reference, anchor))
    methods = list_methods(results, records, reference)
    fitted = {label for view in views for label in view.curves} - {ORACLE}  # it learns nothing
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
        times={label: series for label, series in fit_times(results).items() if label in fitted},
        limits=limits(results, records),
        failures=[failure(record) for record in results.failed],
        settings=settings(records),
        commands=commands(root, records, page, options),
    )


def anchors(datasets: Sequence[str]) -> dict[str, str]:
    """The id of each data set's place on the page.

    >>> anchors(["my table", "my_table"])
    {'my table': 'data-my-table', 'my_table': 'data-my-table-2'}
    """
    taken: Counter[str] = Counter()
    found = {}
    for dataset in datasets:
        slug = re.sub(r"[^a-z0-9]+", "-", dataset.lower())
        taken[slug] += 1
        found[dataset] = f"data-{slug}" + f"-{taken[slug]}" * (taken[slug] > 1)
    return found


def dataset_view(store: Store, dataset: str, reference: str, anchor: str) -> DatasetView:
    """Curves and purchases of one data set."""
    cells = store.of(dataset)
    first = next(iter(cells.values()))[0]
    buyers = [label for label in cells if label != FULL] or list(cells)  # it buys anything
    purchases = {label: store.purchases(dataset, label) for label in buyers}
    orders = on_shared_rows(purchases)
    bound, title = ceiling(first.key.dataset, first.budget)
    n_features = len(first.feature_names)
    is_grid = first.kind == "images" and math.isqrt(n_features) ** 2 == n_features
    return DatasetView(
        name=dataset,
        anchor=anchor,
        facts=size(first),
        what=description(first.key.dataset),
        n_features=n_features,
        curves={label: acquisition_band(records) for label, records in cells.items()},
        ceiling=bound,
        ceiling_title=title,
        money=(
            {label: cost_band(cells[label]) for label in buyers} if prices_differ(first) else {}
        ),
        money_unit=money_unit(first),
        prices=prices(first),
        agreement=agreement(orders, reference, n_features),
        frequencies=frequencies(orders, first.feature_names),
        patches=[patch_map(label, orders[label], n_features) for label in orders if is_grid],
        images=_images(store, dataset, purchases, reference) if is_grid else [],
    )


def _images(
    store: Store, dataset: str, purchases: dict[str, Purchases], reference: str
) -> list[list[Revealed]]:
    """As the reference and the best others see them."""
    scores = {label: store.results.scores[dataset, label] for label in purchases}
    rivals = [label for label, score in scores.items() if score.ranked and label != reference]
    rivals.sort(key=lambda label: -scores[label].mean)
    chosen = [label for label in (reference, *rivals) if label in purchases][:N_SHOWN]
    source = scores[chosen[0]].source if chosen else dataset
    return revealed(source, {label: purchases[label] for label in chosen})


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
    name = _shown(root)
    return [
        shlex.join(["hyperdfs", "bench", "run", *run, "--out", name]),
        shlex.join(["hyperdfs", "bench", "table", "--out", name, *options]),
        shlex.join(["hyperdfs", "bench", "report", "--out", name, "--to", _shown(page), *options]),
    ]


def _shown(path: Path) -> str:
    """As it was given; of an absolute path, which is true of one machine only, the last part."""
    return path.name if path.is_absolute() else str(path)


def _argument(dataset: str) -> str:
    """What `bench run --datasets` takes for it: a name of the catalog, or a card."""
    return dataset if dataset.partition("@")[0] in dataset_names() else f"{dataset}.toml"
