"""Small tables and a small configuration, so that a fit takes a fraction of a second."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from hyperdfs import HyperDFSClassifier

TINY: dict[str, Any] = {
    "stage1_epochs": 3,
    "stage2_epochs": 2,
    "stage2_epoch_steps": 1,
    "teacher_weight": 0.0,
    "token_dim": 8,
    "condition_dim": 8,
    "hyper_width": 8,
    "primary": (8,),
    "selector_hidden": (8,),
}


def numbers(n: int = 60, m: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Complete numbers; the label follows from the first column."""
    X = np.random.default_rng(seed).normal(size=(n, m))
    return X, (X[:, 0] > 0).astype(int)


def mixed(n: int = 90, seed: int = 0, *, missing: bool = True) -> tuple[pd.DataFrame, np.ndarray]:
    """Every kind of column, every kind of missing cell, labels of text."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n),
            "smoker": rng.random(n) < 0.4,
            "job": rng.choice(["clerk", "cook", "coach"], n).astype(object),
            "grade": pd.Categorical(rng.choice(["low", "high"], n)),
            "visits": pd.array(rng.integers(0, 5, n), dtype="Int64"),
            "height": rng.normal(170, 8, n),
        }
    )
    y = np.where(X.age + 10 * X.smoker + 5 * (X.job == "cook") > 55, "sick", "well")
    if missing:
        X["smoker"] = X["smoker"].astype("boolean")
        for i, (column, blank) in enumerate(
            {"age": np.nan, "smoker": pd.NA, "job": None, "grade": np.nan, "visits": pd.NA}.items()
        ):
            X.loc[rng.random(n) < 0.05 * (i + 1), column] = blank
    return X, y


def fit(X: Any, y: Any, sample_weight: Any = None, **params: Any) -> HyperDFSClassifier:
    """A tiny model; `config` adds to the tiny one."""
    config = {**TINY, **params.pop("config", {})}
    return HyperDFSClassifier(config=config, **params).fit(X, y, sample_weight)


def only(X: pd.DataFrame, known: np.ndarray, space: Any) -> pd.DataFrame:
    """The rows with exactly the known (n, M) features; all other cells missing."""
    hidden = X.copy()
    for i, columns in enumerate(space.columns):
        for column in columns:
            hidden[column] = hidden[column].where(known[:, i])
    return hidden
