"""The demonstration: one synthetic task whose best possible result is known."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import pandas as pd
import torch

import hyperdfs
from hyperdfs.datasets import Dataset, Oracle, load_dataset
from hyperdfs.datasets.ceilings import rollout
from hyperdfs.errors import InputError
from hyperdfs.estimator import HyperDFSClassifier
from hyperdfs.metrics import macro_f1_curve
from hyperdfs.report import CasePath, Curve, HeatMap, Purchase, Report
from hyperdfs.results import Acquisition
from hyperdfs.selectors.fixed import RandomSelector

DATASET, BUDGET, TEST_ROWS, N_PATHS = "cube", 6, 2_000, 3
ORACLE = (
    "The Bayes oracle knows the true distribution and buys what tells it most about the class. It "
    "plans for no particular number of purchases, so a learned buyer may pass it at the first ones."
)
RARE = 0.01  # features bought less often than this at every step are only listed


@dataclass(frozen=True)
class DemoSize:
    """How much the demonstration learns from and for how long."""

    rows: int = 3_000
    epochs: int = 20  # of the predictor; the selector gets three fifths
    seed: int = 0

    def config(self) -> dict[str, float]:
        """Smaller than the default preset, so that a laptop is done within a minute."""
        return {
            "stage1_epochs": self.epochs,
            "stage2_epochs": max(1, round(0.6 * self.epochs)),
            "n_bins": 6,
            "teacher_weight": 0,
        }

    def command(self) -> str:
        options = (("rows", self.rows), ("epochs", self.epochs), ("seed", self.seed))
        return "hyperdfs demo " + " ".join(f"--{name} {value}" for name, value in options)


def run_demo(size: DemoSize) -> Report:
    """Generate, fit, simulate purchases for rows that were not seen, and collect what to show."""
    if size.rows < 100:
        raise InputError(f"rows must be at least 100, got {size.rows}.")
    data = load_dataset(DATASET, seed=size.seed, n_samples=size.rows + TEST_ROWS)
    train, test = slice(0, size.rows), slice(size.rows, None)
    clf = HyperDFSClassifier(
        max_budget=BUDGET, config=size.config(), random_state=size.seed, verbose=1
    )
    started = perf_counter()
    clf.fit(data.X[train], data.y[train])
    seconds = perf_counter() - started
    X, y = data.X[test], data.y[test]
    bought = clf.acquire(X, BUDGET)
    random = clf.acquire(X, BUDGET, selector=RandomSelector(size.seed))
    assert data.oracle is not None
    proba = {
        "Hyper-DFS": ("model", bought.proba),
        "Random order": ("random", random.proba),
        "Bayes oracle": ("ceiling", oracle_proba(data.oracle, X.to_numpy(), BUDGET)),
    }
    curves = [
        Curve(title, style, dict(enumerate(map(float, macro_f1_curve(y, path)))))
        for title, (style, path) in proba.items()
    ]
    return Report(
        title="Hyper-DFS buys only what it needs",
        headline=headline(curves),
        task=describe(data, size),
        metric="macro-F1",
        note=ORACLE,
        classes=data.class_names,
        curves=curves,
        paths=case_paths(data, X, y, bought),
        heat=heat_map(data.features.names, bought.order),
        settings=settings(clf, data, size, seconds),
        command=size.command(),
    )


def oracle_proba(oracle: Oracle, X: np.ndarray, budget: int) -> np.ndarray:
    """The true posterior after 0..budget purchases of the oracle's own policy, (n, budget+1, C)."""
    nothing = np.zeros(X.shape, dtype=bool)
    steps = [oracle.posterior(X, nothing)]
    steps += [oracle.posterior(X, mask) for mask in rollout(oracle, X, budget)]
    return np.stack(steps, axis=1)


def headline(curves: list[Curve]) -> str:
    model, random, ceiling = (100 * curve.values[4] for curve in curves)
    return (
        f"After 4 of 20 features, chosen case by case, macro-F1 on held-out rows is {model:.0f} %. "
        f"The same predictor with features in random order reaches {random:.0f} %; a buyer that "
        f"knows the true distribution, {ceiling:.0f} %."
    )


def describe(data: Dataset, size: DemoSize) -> str:
    return (
        f"Task “{data.name}”: {data.n_classes} classes and {data.X.shape[1]} features. Each class "
        "is marked by three neighbouring columns, and which three depends on the class, so the "
        f"right question depends on the answers so far. {size.rows:,} rows to learn from, "
        f"{TEST_ROWS:,} held out for everything below."
    )


def case_paths(
    data: Dataset, X: pd.DataFrame, y: np.ndarray, bought: Acquisition
) -> list[CasePath]:
    paths = []
    for row in different_rows(bought.order, N_PATHS):
        steps = [
            Purchase(data.features.names[f], f"{X.iloc[row, f]:.2f}", proba.tolist())
            for f, proba in zip(bought.order[row], bought.proba[row, 1:], strict=True)
        ]
        paths.append(CasePath(row + 1, int(y[row]), bought.proba[row, 0].tolist(), steps))
    return paths


def different_rows(order: np.ndarray, count: int) -> list[int]:
    """The first rows that were asked different things first, whatever came of it.

    >>> different_rows(np.array([[0, 1, 2], [0, 1, 2], [0, 2, 1]]), 2)
    [0, 2]
    """
    rows = np.sort(np.unique(order[:, :3], axis=0, return_index=True)[1])[:count]
    rest = np.setdiff1d(np.arange(len(order)), rows)  # for a selector that treats all alike
    return sorted([*rows.tolist(), *rest[: count - len(rows)].tolist()])


def heat_map(names: tuple[str, ...], order: np.ndarray) -> HeatMap:
    shares = np.stack([(order == f).mean(axis=0) for f in range(len(names))])
    shown = shares.max(axis=1) >= RARE
    return HeatMap(
        features=[name for name, keep in zip(names, shown, strict=True) if keep],
        shares=shares[shown].tolist(),
        never=[name for name, keep in zip(names, shown, strict=True) if not keep],
    )


def settings(
    clf: HyperDFSClassifier, data: Dataset, size: DemoSize, seconds: float
) -> dict[str, str]:
    config = ", ".join(f"{name} {value}" for name, value in size.config().items())
    return {
        "Method": f"Hyper-DFS, preset {clf.preset} with {config}",
        "Purchases trained for": str(clf.max_budget),
        "Fit": f"{seconds:.0f} s on one thread",
        "Seed": str(size.seed),
        "Versions": f"hyperdfs {hyperdfs.__version__}, torch {torch.__version__}, "
        f"Python {platform.python_version()}",
        "Data": f"{data.source}; licence {data.licence}",
    }
