"""Fitted models for the tests of saving and loading, each fitted once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hyperdfs import HyperDFSClassifier
from small_tables import fit, mixed, numbers

COSTS = {"body": 3.0, "smoker": 0.5, "job": 1.0, "grade": 0.0, "visits": 2.0}


@cache
def priced_model() -> HyperDFSClassifier:
    """Two members, a mixed table, a group of columns, prices."""
    X, y = mixed()
    groups = {"body": ["age", "height"]}
    return fit(X, y, max_budget=3, n_members=2, groups=groups, costs=COSTS, random_state=4)


@cache
def small_model() -> HyperDFSClassifier:
    return fit(*numbers(40), max_budget=2)


def saved_bytes(model: HyperDFSClassifier, folder: Path) -> bytes:
    path = folder / "model.hdfs"
    model.save(path)
    return path.read_bytes()
