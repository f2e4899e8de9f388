"""What every method must do, for the tests of each; `config` makes its fit a matter of a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hyperdfs import DFSClassifier, load
from small_tables import mixed, numbers, only


def groups_missing_and_text(method: str, config: dict[str, Any], tmp_path: Path) -> DFSClassifier:
    """Groups, categories, missing cells and text labels; equal after save and load, and repeatable.

    The model may buy three of five features.
    """
    X, y = mixed(80)
    params: dict[str, Any] = {
        "method": method,
        "max_budget": 3,
        "groups": {"body": ["height", "visits"]},
        "config": config,
        "random_state": 3,
    }
    clf = DFSClassifier(**params).fit(X, y)
    bought = clf.acquire(X)
    assert set(clf.predict(X)) <= {"sick", "well"}
    assert bought.order.shape == (80, 3)
    assert np.allclose(bought.proba.sum(-1), 1.0, atol=1e-5)
    assert all(len(set(row)) == 3 for row in bought.order.tolist())

    clf.save(tmp_path / "model.hdfs")
    loaded = load(tmp_path / "model.hdfs", device="cpu")
    assert np.array_equal(loaded.acquire(X).order, bought.order)
    assert np.array_equal(loaded.acquire(X).proba, bought.proba)
    assert np.array_equal(loaded.predict_proba(X), clf.predict_proba(X))

    again = DFSClassifier(**params).fit(X, y)
    assert np.array_equal(again.acquire(X).proba, bought.proba)
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    return clf


def does_not_peek(clf: DFSClassifier, X: pd.DataFrame) -> None:
    """Neither choice nor prediction depends on a value before it is bought, nor on other rows."""
    whole = clf.acquire(X)
    for budget in range(whole.order.shape[1]):
        known = whole.masks(budget)
        other = X.sample(frac=1.0, random_state=budget).set_axis(X.index)
        mixture = X.copy()
        for i, columns in enumerate(clf.features_.columns):
            for column in columns:
                mixture[column] = X[column].where(known[:, i], other[column])
        changed = clf.acquire(mixture, budget + 1)
        assert np.array_equal(changed.order[:, : budget + 1], whole.order[:, : budget + 1])
        same = np.abs(changed.proba[:, : budget + 1] - whole.proba[:, : budget + 1]).max()
        assert same < 1e-5
        seen = clf.predict_proba(only(X, known, clf.features_))
        assert np.abs(seen - whole.proba[:, budget]).max() < 1e-5
    few = clf.acquire(X.iloc[:7])
    assert np.array_equal(few.order, whole.order[:7])
    assert np.abs(few.proba - whole.proba[:7]).max() < 1e-5


def complete_numbers(n: int = 80) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = numbers(n, 4)
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]), y
