"""From stored cells to scores: one per method and data set.

The score of a cell is the mean of a metric over the budgets 2..10, in percent where the metric is a
share. A fold's value is the mean over its seeds; mean and standard deviation (population form,
ddof=0, as in the paper's aggregates) are over folds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pstdev

import numpy as np
from scipy.stats import rankdata

from hyperdfs.bench.cells import CellRecord
from hyperdfs.bench.paper import COUNTERPARTS, Counterpart, counterpart
from hyperdfs.bench.table_groups import UNRANKED, Group, column_order, group_of
from hyperdfs.errors import InputError
from hyperdfs.metrics import budget_mean


@dataclass(frozen=True)
class Metric:
    """How a metric is named, printed and ordered."""

    title: str
    percent: bool = True
    higher_is_better: bool = True
    what: str = "mean over the budgets 2 to 10"
    decimals: int = 1  # on a screen

    @property
    def scale(self) -> float:
        return 100.0 if self.percent else 1.0


METRICS = {
    "f1_macro": Metric("AUAC-F1"),
    "accuracy": Metric("Accuracy"),
    "auroc": Metric("AUROC"),
    "log_loss": Metric("Log-loss", percent=False, higher_is_better=False, decimals=3),
    "brier": Metric("Brier score", percent=False, higher_is_better=False, decimals=3),
    "ece": Metric("Calibration error", higher_is_better=False),
    "cost_area": Metric("Macro-F1", what="mean over equal steps of money"),
    "seconds": Metric(
        "Seconds", percent=False, higher_is_better=False, what="one core, fit and purchases"
    ),
}
KIND_TITLES = {"synthetic": "Synthetic data", "table": "Tables", "images": "Images"}


@dataclass(frozen=True)
class Score:
    """One method on one data set; `mean` and `std` in the unit that is printed."""

    dataset: str  # its name, with the cap on rows where the store has several
    source: str  # its name in the catalog
    label: str
    method: str
    kind: str
    mean: float
    std: float
    folds: tuple[int, ...]
    wanted_folds: int
    uneven_seeds: bool  # not every fold has the same seeds
    max_rows: int | None
    n_train: int
    fit_seconds: float  # wall clock, mean per fit
    fit_cpu_seconds: float
    parameters: int
    constant_f1: float  # percent; NaN if unknown
    ranked: bool  # a competitor, and no reference
    imputed: bool  # missing cells were filled in by every fit

    @property
    def n_folds(self) -> int:
        return len(self.folds)

    @property
    def lacks(self) -> str:
        """What is still to be run: ``3/5`` folds are done, or some lack ``seeds``; else empty."""
        if self.n_folds < self.wanted_folds:
            return f"{self.n_folds}/{self.wanted_folds}"
        return "seeds" if self.uneven_seeds else ""

    @property
    def complete(self) -> bool:
        return not self.lacks

    @property
    def counterpart(self) -> Counterpart | None:
        """The paper's row for its data set, if it has one."""
        return counterpart(
            self.source, max_rows=self.max_rows, n_folds=self.wanted_folds, imputed=self.imputed
        )

    @property
    def group(self) -> Group:
        return group_of(self.method)


@dataclass(frozen=True)
class Results:
    """All scores of a store for one metric."""

    metric: str
    scores: dict[tuple[str, str], Score]  # by data set and label
    failed: list[CellRecord] = field(default_factory=list)

    @property
    def datasets(self) -> list[str]:
        """Synthetic data first, then tables, then images, each by name."""
        order = list(KIND_TITLES)
        kinds = {score.dataset: score.kind for score in self.scores.values()}
        return sorted(
            kinds, key=lambda d: (order.index(kinds[d]) if kinds[d] in order else len(order), d)
        )

    @property
    def labels(self) -> list[str]:
        """By group, then as the group lists its methods."""
        methods = {score.label: score.method for score in self.scores.values()}
        return sorted(methods, key=lambda label: column_order(label, methods[label]))

    @property
    def spec(self) -> Metric:
        return METRICS[self.metric]

    def of_kind(self, kind: str) -> Results:
        """The part on data sets of one kind."""
        kept = {key: score for key, score in self.scores.items() if score.kind == kind}
        return Results(self.metric, kept)

    def ranked_labels(self) -> list[str]:
        ranked = {score.label for score in self.scores.values() if score.ranked}
        return [label for label in self.labels if label in ranked]

    def common(self, labels: Sequence[str]) -> list[str]:
        """The data sets that every one of these methods has completed, with a score to rank."""
        return [d for d in self.datasets if all(self._done(d, label) for label in labels)]

    def matrix(self, datasets: Sequence[str], labels: Sequence[str]) -> np.ndarray:
        """Means, (data sets, labels)."""
        means = [[self.scores[d, label].mean for label in labels] for d in datasets]
        return np.array(means).reshape(len(datasets), len(labels))

    def _done(self, dataset: str, label: str) -> bool:
        score = self.scores.get((dataset, label))
        return score is not None and score.complete and score.ranked


def tabulate(
    records: Iterable[CellRecord],
    *,
    metric: str = "f1_macro",
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> Results:
    """Scores of the records; the last three keep data sets (by tag), labels and groups."""
    if metric not in METRICS:
        raise InputError(f"--metric must be one of {', '.join(METRICS)}, got {metric!r}.")
    kept = [
        record
        for record in select(records, datasets=datasets, methods=methods)
        if groups is None or group_of(record.method).name in groups
    ]
    done: dict[tuple[str, int | None, str], list[CellRecord]] = defaultdict(list)
    for record in kept:
        if record.status == "done" and cell_score(record, metric) is not None:
            done[record.key.dataset, record.key.max_rows, record.key.label].append(record)
    caps: dict[str, set[int | None]] = defaultdict(set)
    for source, cap, _ in done:
        caps[source].add(cap)
    scores = {}
    for (source, cap, label), cells in done.items():
        name = source if len(caps[source]) == 1 or cap is None else f"{source}@{cap}"
        scores[name, label] = _score(name, cells, metric)
    return Results(metric, scores, [record for record in kept if record.status == "failed"])


def select(
    records: Iterable[CellRecord],
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
) -> list[CellRecord]:
    """The records of these data sets (by tag) and labels; None means all."""
    return [
        record
        for record in records
        if (datasets is None or dataset_tags(record) & set(datasets))
        and (methods is None or record.key.label in methods)
    ]


def dataset_tags(record: CellRecord) -> set[str]:
    """What a user may call its data set: its name, or one of the groups that `bench run` knows."""
    groups = {"tables" if record.kind == "table" else record.kind}
    return {record.key.dataset, *groups, *(["paper"] if record.key.dataset in COUNTERPARTS else [])}


def cell_score(record: CellRecord, metric: str) -> float | None:
    """The metric in its own unit, a mean over the budgets 2..min(10, M); None if it has no value.

    Seconds are of the processor: the clock's on an idle machine, and on a busy one the fairer.
    """
    if metric == "seconds":
        return (record.seconds.fit_cpu + record.seconds.acquire_cpu) or None
    if metric in ("f1_macro", "cost_area"):
        return record.auac if metric == "f1_macro" else record.cost_area
    curve = record.curves.get(metric)
    mean = budget_mean(curve) if curve else math.nan
    return None if math.isnan(mean) else mean


def competes(record: CellRecord) -> bool:
    """Whether its score is ranked: its method is no reference, and was seen not to peek."""
    named = record.method not in UNRANKED if record.ranked is None else record.ranked
    return named and record.checks.get("leak", False)


def _score(name: str, cells: Sequence[CellRecord], metric: str) -> Score:
    by_fold: dict[int, list[float]] = defaultdict(list)
    seeds: dict[int, set[int]] = defaultdict(set)
    for cell in cells:
        value = cell_score(cell, metric)
        assert value is not None
        by_fold[cell.key.fold].append(METRICS[metric].scale * value)
        seeds[cell.key.fold].add(cell.key.seed)
    values = [fmean(by_fold[fold]) for fold in sorted(by_fold)]
    first = cells[0]
    constants = [100 * cell.constant_f1 for cell in cells if cell.constant_f1 is not None]
    return Score(
        dataset=name,
        source=first.key.dataset,
        label=first.key.label,
        method=first.method,
        kind=first.kind,
        mean=fmean(values),
        std=pstdev(values),
        folds=tuple(sorted(by_fold)),
        wanted_folds=max(cell.n_folds for cell in cells),
        uneven_seeds=len({frozenset(s) for s in seeds.values()}) > 1,
        max_rows=first.key.max_rows,
        n_train=round(fmean(cell.n_train for cell in cells)),
        fit_seconds=fmean(cell.seconds.fit_wall for cell in cells),
        fit_cpu_seconds=fmean(cell.seconds.fit_cpu for cell in cells),
        parameters=round(fmean(cell.parameters for cell in cells)),
        constant_f1=fmean(constants) if constants else math.nan,
        ranked=all(map(competes, cells)),
        imputed=all(cell.config.get("preprocessing") == "paper" for cell in cells),
    )


def ranks(matrix: np.ndarray, *, higher_is_better: bool = True) -> np.ndarray:
    """Rank of every column in its row, 1 = best, ties share the mean rank.

    >>> ranks(np.array([[0.9, 0.7, 0.9]])).tolist()
    [[1.5, 3.0, 1.5]]
    """
    ranked: np.ndarray = rankdata(-matrix if higher_is_better else matrix, axis=1)
    return ranked
