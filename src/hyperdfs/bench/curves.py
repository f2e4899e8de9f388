"""Curves with bands: scores by number of purchases and by money, and the time of fits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperdfs.bench.cells import CellRecord
from hyperdfs.bench.table import Results


@dataclass(frozen=True)
class Band:
    """Mean and standard deviation (ddof=0) over folds at each `x`."""

    x: tuple[float, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def from_first(self) -> Band:
        """Without the prediction from nothing, where there is more to show."""
        start = 1 if len(self.x) > 2 else 0
        return Band(self.x[start:], self.mean[start:], self.std[start:])


def acquisition_band(records: Sequence[CellRecord], metric: str = "f1_macro") -> Band:
    """A metric after 0..budget purchases, for the cells of one method on one data set."""
    curves = fold_means(records, [record.curves[metric] for record in records])
    steps = tuple(float(step) for step in range(curves.shape[1]))
    return Band(steps, tuple(curves.mean(axis=0).tolist()), tuple(curves.std(axis=0).tolist()))


def cost_band(records: Sequence[CellRecord]) -> Band:
    """Macro-F1 against the mean money spent after 0..budget purchases."""
    band = acquisition_band(records)
    money = fold_means(records, [record.cost for record in records]).mean(axis=0)
    return Band(tuple(money.tolist()), band.mean, band.std)


def fold_means(records: Sequence[CellRecord], curves: Sequence[Sequence[float]]) -> np.ndarray:
    """One curve per fold, (folds, steps): the mean over the fold's seeds."""
    by_fold: dict[int, list[Sequence[float]]] = defaultdict(list)
    for record, curve in zip(records, curves, strict=True):
        by_fold[record.key.fold].append(curve)
    return np.stack([np.mean(by_fold[fold], axis=0) for fold in sorted(by_fold)])


def prices_differ(record: CellRecord) -> bool:
    """Whether money says more than the number of purchases."""
    return len(set(record.costs)) > 1


@dataclass(frozen=True)
class FitTime:
    """Mean processor seconds of one fit on `n_train` rows."""

    dataset: str
    n_train: int
    seconds: float


def fit_times(results: Results) -> dict[str, list[FitTime]]:
    """By label, from the smallest data set to the largest.

    Every fit runs on one thread, so that processor time is what the clock shows on an idle machine;
    on a busy one it is the fairer of the two.
    """
    times: dict[str, list[FitTime]] = {}
    for label in results.labels:
        scores = [s for (_, name), s in results.scores.items() if name == label]
        points = [
            FitTime(s.dataset, s.n_train, s.fit_cpu_seconds)
            for s in scores
            if s.n_train and s.fit_cpu_seconds > 0
        ]
        if points:
            times[label] = sorted(points, key=lambda point: (point.n_train, point.dataset))
    return times
