"""The references that bound every method from below and above."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checks import complete_numbers, does_not_peek, groups_missing_and_text

from hyperdfs import DFSClassifier, load
from hyperdfs.datasets import dataset_info, load_dataset
from hyperdfs.errors import InputError
from hyperdfs.methods import get_method


def test_constant_survives_everything(tmp_path: Path) -> None:
    groups_missing_and_text("constant", {}, tmp_path)


@pytest.mark.parametrize("counts", [(70, 30), (50, 30, 20)])
def test_constant_scores_what_the_formula_says(counts: tuple[int, ...]) -> None:
    """Majority share p among C classes: macro-F1 = (2p / (1 + p)) / C."""
    y = np.repeat(np.arange(len(counts)), counts)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 3)), columns=list("abc"))
    clf = DFSClassifier("constant", max_budget=3).fit(X, y)
    assert clf.predict_proba(X)[0] == pytest.approx(np.array(counts) / 100, abs=1e-6)
    p = counts[0] / 100
    assert clf.auac(X, y, budgets=[1, 2, 3]) == pytest.approx(2 * p / (1 + p) / len(counts))


def test_constant_counts_weights() -> None:
    X, y = complete_numbers()
    weight = np.where(y == 1, 3.0, 1.0)
    clf = DFSClassifier("constant").fit(X, y, sample_weight=weight)
    expected = weight[y == 1].sum() / weight.sum()
    assert clf.predict_proba(X)[0, 1] == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("name", "tolerance"), [("cube", 2.5), ("proxysub", 1.0)])
def test_oracle_reaches_the_recorded_ceiling(name: str, tolerance: float, tmp_path: Path) -> None:
    d = load_dataset(name, seed=3, n_samples=2500)
    clf = DFSClassifier("oracle", config={"dataset": name}).fit(d.X[:500], d.y[:500])
    ceiling = dataset_info(name).ceiling
    assert ceiling is not None
    score = 100 * clf.auac(d.X[500:], d.y[500:])
    assert score == pytest.approx(ceiling.nested_auac, abs=tolerance)
    clf.save(tmp_path / "oracle.hdfs")
    rows = d.X[:50]
    loaded = load(tmp_path / "oracle.hdfs", device="cpu")
    assert np.array_equal(loaded.acquire(rows).proba, clf.acquire(rows).proba)
    raw = d.oracle.posterior(rows.to_numpy(), np.ones(d.X.shape[1], bool))  # type: ignore[union-attr]
    assert np.abs(clf.predict_proba(rows) - raw).max() < 1e-3


def test_oracle_does_not_peek() -> None:
    d = load_dataset("cube", seed=3, n_samples=200)
    clf = DFSClassifier("oracle", max_budget=3, config={"dataset": "cube"}).fit(d.X, d.y)
    does_not_peek(clf, d.X[:40])


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "needs the name of a synthetic data set, got ''"),
        ({"dataset": "wine"}, "needs the name of a synthetic data set, got 'wine'"),
        ({"dataset": "cube"}, "needs rows of 'cube' with 20 features and 8 classes, got 4 and 2"),
    ],
)
def test_oracle_refuses_what_it_does_not_know(config: dict[str, str], message: str) -> None:
    X, y = complete_numbers()
    with pytest.raises(InputError, match=message):
        DFSClassifier("oracle", config=config).fit(X, y)


def test_references_are_not_ranked() -> None:
    ranked = {name: get_method(name).ranked for name in ("constant", "oracle", "static_trees")}
    assert ranked == {"constant": False, "oracle": False, "static_trees": True}
