"""One order for all, or a random one, with a masked MLP."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checks import complete_numbers, does_not_peek, groups_missing_and_text

from hyperdfs import DFSClassifier, load
from hyperdfs.datasets import load_dataset

QUICK = {"hidden": (16,), "epochs": 8, "tuning_epochs": 3, "lr": 1e-2, "n_bins": 0}


@pytest.mark.parametrize("method", ["static_mlp", "random_mlp"])
def test_groups_missing_and_text(method: str, tmp_path: Path) -> None:
    groups_missing_and_text(method, QUICK, tmp_path)


@pytest.mark.parametrize("method", ["static_mlp", "random_mlp"])
def test_does_not_peek(method: str) -> None:
    X, y = complete_numbers()
    does_not_peek(DFSClassifier(method, max_budget=3, config=QUICK).fit(X, y), X)


def test_one_order_for_all_the_best_proxy_first() -> None:
    d = load_dataset("proxysub", seed=1, n_samples=1500)
    clf = DFSClassifier("static_mlp", max_budget=3, config=QUICK).fit(d.X, d.y)
    order = clf.acquire(d.X).order
    assert (order == order[0]).all()
    assert order[0, 0] == 0
    assert clf.auac(d.X, d.y, budgets=[1, 2, 3]) > 0.93


def test_random_orders_differ_from_row_to_row() -> None:
    X, y = complete_numbers()
    clf = DFSClassifier("random_mlp", max_budget=3, config=QUICK).fit(X, y)
    first = np.bincount(clf.acquire(X).order[:, 0], minlength=4)
    assert first.min() > 8


def test_an_expensive_feature_waits_and_equal_costs_change_nothing() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    y = (X["a"] + 0.7 * X["b"] > 0).astype(int).to_numpy()

    def bought(costs: dict[str, float] | None) -> list[int]:
        clf = DFSClassifier("static_mlp", max_budget=2, config=QUICK, costs=costs).fit(X, y)
        return clf.acquire(X[:1]).order[0].tolist()

    assert bought(None) == [0, 1]
    assert bought({"a": 7.0, "b": 7.0, "c": 7.0}) == [0, 1]
    assert bought({"a": 50.0, "b": 1.0, "c": 1.0})[0] == 1


@pytest.mark.parametrize("method", ["random", "random_mlp"])
def test_random_orders_follow_the_seed_and_survive_a_save(method: str, tmp_path: Path) -> None:
    X, y = complete_numbers()
    quick = {"stage1_epochs": 1} if method == "random" else QUICK
    a, b = (DFSClassifier(method, config=quick, random_state=seed).fit(X, y) for seed in (0, 1))
    orders = a.acquire(X, 3).order
    assert (orders != b.acquire(X, 3).order).any()
    a.save(tmp_path / "a.hdfs")
    assert (load(tmp_path / "a.hdfs").acquire(X, 3).order == orders).all()
