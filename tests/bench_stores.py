"""Stores of benchmark results, written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hyperdfs.bench.cells import CellArrays, CellKey, CellRecord, Seconds, write_cell


def record(
    dataset: str,
    label: str,
    curve: Sequence[float],
    *,
    fold: int = 0,
    seed: int = 0,
    method: str | None = None,
    kind: str = "table",
    n_folds: int = 2,
    max_rows: int | None = None,
    n_features: int = 4,
    costs: Sequence[float] | None = None,
    n_train: int = 80,
    fit_seconds: float = 2.0,
) -> CellRecord:
    """A finished cell whose macro-F1 after 0, 1, … purchases is `curve`."""
    budget = len(curve) - 1
    prices = list(costs) if costs is not None else [1.0] * n_features
    return CellRecord(
        key=CellKey(dataset=dataset, label=label, fold=fold, seed=seed, max_rows=max_rows),
        status="done",
        method=method or label,
        kind=kind,
        n_folds=n_folds,
        n_train=n_train,
        n_test=6,
        n_classes=2,
        budget=budget,
        feature_names=[f"x{i}" for i in range(n_features)],
        class_names=["no", "yes"],
        costs=prices,
        auac=float(np.mean(curve[2:])),
        constant_f1=0.25,
        curves={"f1_macro": list(curve), "log_loss": [1 - value for value in curve]},
        cost=[float(np.mean(prices) * step) for step in range(budget + 1)],
        seconds=Seconds(fit_wall=fit_seconds, fit_cpu=fit_seconds / 2),
        parameters=100,
        checks={"leak": True},
        versions={"hyperdfs": "0.1.0"},
        finished="2026-01-01T00:00:00+00:00",
    )


def arrays(cell: CellRecord, rng: np.random.Generator) -> CellArrays:
    """Random purchases of the cell's test rows."""
    n_features, n = len(cell.feature_names), cell.n_test
    order = np.stack([rng.permutation(n_features)[: cell.budget] for _ in range(n)])
    return CellArrays(
        rows=np.arange(n, dtype=np.int32) + n * cell.key.fold,
        labels=rng.integers(0, 2, n).astype(np.int16),
        order=order.astype(np.int16),
        proba=None,
    )


def write_store(root: Path, cells: Sequence[CellRecord], seed: int = 0) -> Path:
    """All cells with random purchases."""
    rng = np.random.default_rng(seed)
    for cell in cells:
        write_cell(root, cell, arrays(cell, rng))
    return root
