"""The protocol: one method on one fold of one data set, scored the same way for every method."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from hyperdfs.acquisition import peeks
from hyperdfs.bench.cells import CellArrays, CellKey, CellRecord, Seconds
from hyperdfs.bench.choices import load_source
from hyperdfs.bench.memory import peak_memory_mb, reset_peak_memory
from hyperdfs.bench.splits import fold_rows, kept_rows
from hyperdfs.datasets import Dataset
from hyperdfs.errors import InputError
from hyperdfs.estimator import DFSClassifier
from hyperdfs.evaluation.money import cost_area
from hyperdfs.evaluation.nets import (
    check_leaks,
    check_predictions,
    check_probabilities,
    check_purchases,
    check_split,
)
from hyperdfs.methods import get_method
from hyperdfs.metrics import METRICS, PAPER_BUDGETS, budget_mean, macro_f1, metric_curve
from hyperdfs.recall import Recalled, recalling
from hyperdfs.results import Acquisition
from hyperdfs.threads import one_thread

LARGEST_BUDGET = max(PAPER_BUDGETS)


@dataclass(frozen=True)
class CellTask:
    """Everything a worker needs to run a cell.

    source : what `load_source` is given: a name of the catalog or the path of a card.
    fingerprint : of the data that other cells of the store were run on, if there are any.
    """

    key: CellKey
    source: str
    method: str
    preset: str = "default"
    overrides: Mapping[str, Any] = field(default_factory=dict)
    n_folds: int = 5
    fingerprint: str = ""

    @property
    def seed(self) -> int:
        """The method's seed: another one for each fold."""
        return 1000 * self.key.seed + self.key.fold

    def config(self) -> dict[str, Any]:
        """The complete configuration, as a record keeps it."""
        config = get_method(self.method).configure(self.preset, self.overrides)
        return config.model_dump(mode="json")

    def record(self) -> CellRecord:
        """What is known of the cell before it runs."""
        return CellRecord(
            key=self.key,
            status="failed",
            method=self.method,
            preset=self.preset,
            n_folds=self.n_folds,
            versions=versions(),
        )


Make = Callable[[CellTask, Dataset], Any]


def make_classifier(task: CellTask, data: Dataset) -> DFSClassifier:
    """The classifier of a cell. Its preprocessing and validation split happen inside its fit."""
    return DFSClassifier(
        task.method,
        max_budget=LARGEST_BUDGET,
        groups=data.features,
        preset=task.preset,
        config=dict(task.overrides) or None,
        random_state=task.seed,
        device="cpu",  # the same results and comparable seconds on every node of a cluster
    )


def run_cell(
    task: CellTask, record: CellRecord, *, trials: Path, make: Make = make_classifier
) -> tuple[CellRecord, CellArrays]:
    """Fit on the training rows of the fold, buy for its test rows, check and score.

    `trials` is the folder where cells of one fold find what they all must decide alike.
    `record` is filled as far as the run gets, so that a failed cell tells what was known by then.
    The whole cell uses one thread: results then do not depend on the machine's cores.
    """
    reset_peak_memory()
    started = time.perf_counter()
    with one_thread():
        record.config = task.config()
        record.ranked = get_method(task.method).ranked
        data = load_source(task.source)
        rows = kept_rows(data.y, task.key.max_rows)
        train, test = fold_rows(data.y, rows, task.n_folds, task.key.fold)
        _describe(record, task, data, train, test)
        check_split(train, test, len(rows))
        record.checks["split"] = True
        clf = make(task, data)
        with stopwatch(record.seconds, "fit"), recalling(trials) as recalled, noted(record):
            clf.fit(data.X.iloc[train], data.y[train])
        record.parameters = clf._state.model.parameters()
        with stopwatch(record.seconds, "acquire"):
            shown = shown_rows(data, test)
            bought = clf.acquire(shown, record.budget)
        proba = all_classes(bought.proba, clf.classes_, data.n_classes)
        check_results(record, clf, data, shown, bought, proba)
        score(record, data.y[train], data.y[test], bought, proba)
    record.peak_memory_mb = peak_memory_mb()
    record.seconds.total_wall = time.perf_counter() - started
    add_recalled(record.seconds, recalled)
    record.status, record.finished = "done", now()
    arrays = CellArrays(
        rows=test.astype(np.int32),
        labels=data.y[test].astype(np.int16),
        order=bought.order.astype(np.int16),
        proba=half(proba),
    )
    return record, arrays


def shown_rows(data: Dataset, test: np.ndarray) -> pd.DataFrame:
    """The test rows without their old row numbers, which in many a table tell the class."""
    return data.X.iloc[test].reset_index(drop=True)


def check_results(
    record: CellRecord,
    clf: Any,
    data: Dataset,
    shown: pd.DataFrame,
    bought: Acquisition,
    proba: np.ndarray,
) -> None:
    """The safety nets. One that says it peeks is a reference: `leak` is not among them."""
    check_purchases(bought.order, len(data.features), record.budget)
    record.checks.update(exact_budget=True, no_repeat=True)
    check_probabilities(proba)
    record.checks["probabilities"] = True
    model = clf._state.model
    if not peeks(model.selector) and not peeks(model.predictor):
        check_predictions(clf, shown, data.features, bought)
        check_leaks(clf, shown, data.features, bought)
        record.checks.update(prediction=True, leak=True)


def score(
    record: CellRecord,
    train_labels: np.ndarray,
    labels: np.ndarray,
    bought: Acquisition,
    proba: np.ndarray,
) -> None:
    """Every metric after each step, and the areas under macro-F1."""
    record.curves = {name: metric_curve(name, labels, proba).tolist() for name in METRICS}
    record.cost = bought.cost.mean(0).tolist()
    record.auac = budget_mean(record.curves["f1_macro"])
    record.cost_area = cost_area(labels, proba, bought.cost, np.array(record.costs))
    majority = np.bincount(train_labels).argmax()
    constant = np.full(len(labels), majority)
    record.constant_f1 = macro_f1(labels, constant, record.n_classes)


def all_classes(proba: np.ndarray, classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities of all classes of the data set; one that training lacked has none."""
    if len(classes) == n_classes:
        return proba
    full = np.zeros((*proba.shape[:2], n_classes), proba.dtype)
    full[:, :, classes] = proba
    return full


def half(proba: np.ndarray) -> np.ndarray:
    """Half precision in which the predicted class stays the same."""
    rounded = proba.astype(np.float16)
    winner = proba.argmax(2)
    rows, steps = np.nonzero(rounded.argmax(2) != winner)  # ties that rounding made
    highest = rounded[rows, steps].max(1)
    rounded[rows, steps, winner[rows, steps]] = np.nextafter(highest, np.float16(2))
    return rounded


@contextmanager
def stopwatch(seconds: Seconds, name: str) -> Iterator[None]:
    """Notes processor and wall time of a block as `<name>_cpu` and `<name>_wall`."""
    cpu, wall = time.process_time(), time.perf_counter()
    yield
    setattr(seconds, f"{name}_cpu", time.process_time() - cpu)
    setattr(seconds, f"{name}_wall", time.perf_counter() - wall)


@contextmanager
def noted(record: CellRecord) -> Iterator[None]:
    """Keeps warnings in the record, where the screen of the run finds them."""
    with warnings.catch_warnings(record=True) as caught:
        try:
            yield
        finally:
            record.warnings = list(dict.fromkeys(str(found.message) for found in caught))


def add_recalled(seconds: Seconds, recalled: Recalled) -> None:
    """Count what was read instead of decided as if it had been decided here."""
    seconds.fit_cpu += recalled.cpu
    seconds.fit_wall += recalled.wall
    seconds.total_wall += recalled.wall
    seconds.recalled_cpu, seconds.recalled_wall = recalled.cpu, recalled.wall


def versions() -> dict[str, str]:
    """What a result may depend on besides the configuration."""
    import scipy
    import sklearn

    import hyperdfs

    return {
        "hyperdfs": hyperdfs.__version__,
        "torch": str(torch.__version__),
        "sklearn": sklearn.__version__,
        "numpy": np.__version__,
        "pandas": pd.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


def now() -> str:
    """The time as a record keeps it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _describe(
    record: CellRecord, task: CellTask, data: Dataset, train: np.ndarray, test: np.ndarray
) -> None:
    record.kind, record.fingerprint = data.kind, data.fingerprint
    record.n_train, record.n_test, record.n_classes = len(train), len(test), data.n_classes
    record.budget = min(LARGEST_BUDGET, len(data.features))
    record.feature_names = list(data.features.names)
    record.class_names = list(data.class_names)
    record.costs = data.costs.tolist()
    if task.fingerprint and task.fingerprint != data.fingerprint:
        raise InputError(
            f"The cells of a store must share their data, but {data.name!r} has changed since the "
            f"others were run (content {task.fingerprint}, now {data.fingerprint}); "
            "choose another --out or delete those cells."
        )
