"""One order for all, boosted trees for each budget."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from checks import complete_numbers, does_not_peek, groups_missing_and_text

from hyperdfs import DFSClassifier
from hyperdfs.datasets import load_dataset
from hyperdfs.features import FeatureSpace
from hyperdfs.fitting import fit_state
from hyperdfs.masks import ColumnMap
from hyperdfs.methods import get_method
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.trees import Forest
from hyperdfs.predictors.trees import PrefixTreesPredictor

QUICK = {"rounds": 15}


def test_groups_missing_and_text(tmp_path: Path) -> None:
    groups_missing_and_text("static_trees", QUICK, tmp_path)


def test_does_not_peek_and_has_one_order() -> None:
    X, y = complete_numbers()
    clf = DFSClassifier("static_trees", max_budget=3, config=QUICK).fit(X, y)
    does_not_peek(clf, X)
    order = clf.acquire(X).order
    assert (order == order[0]).all()
    assert order[0, 0] == 0  # the label follows from the first column


def test_buys_the_best_proxy_first() -> None:
    d = load_dataset("proxysub", seed=1, n_samples=600)
    clf = DFSClassifier("static_trees", max_budget=2, config=QUICK).fit(d.X, d.y)
    assert clf.acquire(d.X[:5]).order[:, 0].tolist() == [0] * 5
    assert clf.auac(d.X, d.y, budgets=[1]) > 0.9


def test_finds_a_pair_that_pays_only_together() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(900, 6)), columns=list("abcdef"))
    y = (X["c"] * X["e"] > 0).astype(int).to_numpy()
    clf = DFSClassifier("static_trees", max_budget=2, config={"rounds": 60}).fit(X, y)
    assert set(clf.acquire(X[:1]).order[0].tolist()) == {2, 4}


def test_an_expensive_feature_waits_and_equal_costs_change_nothing() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    y = (X["a"] + 0.8 * X["b"] > 0).astype(int).to_numpy()

    def order(costs: dict[str, float] | None) -> list[int]:
        clf = DFSClassifier("static_trees", max_budget=2, config=QUICK, costs=costs).fit(X, y)
        return clf.acquire(X[:1]).order[0].tolist()

    assert order(None) == [0, 1]
    assert order({"a": 7.0, "b": 7.0, "c": 7.0}) == [0, 1]
    assert order({"a": 50.0, "b": 1.0, "c": 1.0})[0] == 1


def test_withheld_beginnings_get_no_booster_of_their_own() -> None:
    X, y = complete_numbers()
    method = get_method("static_trees")
    held_out = np.eye(4, dtype=bool)
    state = fit_state(
        X,
        y,
        np.ones(len(y)),
        FeatureSpace.from_columns(list(X.columns)),
        n_classes=2,
        method="static_trees",
        config=method.configure("default", QUICK),
        members=1,
        max_budget=3,
        device=torch.device("cpu"),
        seed=0,
        progress=lambda *_: None,
        held_out=held_out,
    )
    fitted = state.model.modules["fitted"]
    assert isinstance(fitted, Arrays)
    assert fitted.get("sizes").tolist() == [0, 2, 3, 4]


def test_which_booster_serves_which_subset() -> None:
    fitted = Arrays("order", "sizes", "blank")
    fitted.set("order", torch.tensor([2, 0, 3, 1]))
    fitted.set("sizes", torch.tensor([0, 1, 2, 4]))
    fitted.set("blank", torch.tensor([True, False, False, False]))
    predictor = PrefixTreesPredictor(Forest(), fitted, ColumnMap(np.arange(4), 4))
    masks = torch.tensor(
        [
            [0.0, 0.0, 0.0, 0.0],  # nothing
            [0.0, 0.0, 1.0, 0.0],  # the first of the order
            [1.0, 0.0, 1.0, 0.0],  # the first two
            [1.0, 0.0, 0.0, 0.0],  # no beginning
            [1.0, 0.0, 1.0, 1.0],  # three: only with the fourth, which is never missing
            [1.0, 1.0, 1.0, 1.0],  # all
            [0.0, 1.0, 1.0, 1.0],  # all but one that is sometimes missing
        ]
    )
    assert predictor._boosters(masks).tolist() == [0, 1, 2, 4, 4, 3, 3]
