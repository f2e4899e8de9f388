"""Boosted trees on masked rows, greedy by foreseen gain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from checks import complete_numbers, does_not_peek, groups_missing_and_text

from hyperdfs import DFSClassifier
from hyperdfs.masks import ColumnMap, MaskSampler
from hyperdfs.training.data import make_rows
from hyperdfs.training.values import likely_subsets, purchase_gains, value_loss

QUICK = {"rounds": 12, "epochs": 4, "hidden": (16,), "lr": 1e-2, "samples": 600}


def test_groups_missing_and_text(tmp_path: Path) -> None:
    groups_missing_and_text("trees_missing", QUICK, tmp_path)


def test_does_not_peek() -> None:
    X, y = complete_numbers()
    does_not_peek(DFSClassifier("trees_missing", max_budget=3, config=QUICK).fit(X, y), X)


def test_knows_the_shares_when_it_knows_nothing() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1000, 4)), columns=list("abcd"))
    y = (X["a"] + 0.5 * rng.normal(size=1000) > 0.8).astype(int).to_numpy()
    config = {**QUICK, "rounds": 30, "class_weight": None}
    clf = DFSClassifier("trees_missing", max_budget=2, config=config).fit(X, y)
    nothing = clf.predict_proba(X[:1] * np.nan)[0, 1]
    assert nothing == pytest.approx(y.mean(), abs=0.05)


def test_buys_what_suits_the_case() -> None:
    """The first column says which of two others tells the label."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1500, 5)), columns=["gate", "a", "b", "c", "d"])
    y = (np.where(X["gate"] > 0, X["a"], X["b"]) > 0).astype(int)
    config = {"rounds": 25, "epochs": 6, "hidden": (32,), "lr": 3e-3, "samples": 3000}
    clf = DFSClassifier("trees_missing", max_budget=2, config=config).fit(X, y)
    mask = torch.zeros(len(X), 5)
    mask[:, 0] = 1.0
    values = torch.zeros(len(X), 5)
    values[:, 0] = torch.tensor(X["gate"].to_numpy(), dtype=torch.float32)
    scores = clf._state.model.selector.scores(values, mask)[:, 1:]
    clear = np.abs(X["gate"].to_numpy()) > 0.3
    right = np.where(X["gate"] > 0, 0, 1)
    assert (scores.argmax(1).numpy() == right)[clear].mean() > 0.95


def test_an_expensive_feature_waits_and_equal_costs_change_nothing() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    y = (X["a"] + 0.8 * X["b"] > 0).astype(int).to_numpy()

    def first(costs: dict[str, float] | None) -> int:
        clf = DFSClassifier("trees_missing", max_budget=2, config=QUICK, costs=costs).fit(X, y)
        return int(clf.acquire(X[:1]).order[0, 0])

    assert first(None) == first({"a": 7.0, "b": 7.0, "c": 7.0}) == 0
    assert first({"a": 50.0, "b": 1.0, "c": 1.0}) == 1


class Exact:
    """Knows the label once feature 1 is known."""

    def proba(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        sure = torch.stack([(x[:, 1] <= 0).float(), (x[:, 1] > 0).float()], 1)
        return torch.where(mask[:, 1:2] > 0.5, 0.98 * sure + 0.01, 0.5)


def test_gains_are_drops_of_the_loss() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 3))
    labels = (values[:, 1] > 0).astype(int)
    observed = rng.random((50, 3)) > 0.2
    rows = make_rows(
        values * observed, observed, np.eye(2)[labels], np.ones(50), ColumnMap(np.arange(3), 3)
    )
    held_out = np.array([[1, 1, 0]], bool)
    sampler = MaskSampler(3, torch.Generator().manual_seed(0), held_out=held_out)
    masks = torch.tensor([[1.0, 0.0, 0.0]]).expand(50, -1)
    out = purchase_gains(Exact(), rows, masks, torch.tensor([0, 1]), sampler)
    gains, seen = out.target.numpy(), observed
    assert np.isnan(gains[:, [0, 2]]).all()  # known already or missing; no candidate
    assert np.isnan(gains[seen[:, 0], 1]).all()  # would be the withheld subset
    useful = ~seen[:, 0] & seen[:, 1]
    truth = 0.5 + 0.5 * 0.99
    expected = np.log(2) + truth * np.log(0.99) + (1 - truth) * np.log(0.01)
    assert gains[useful, 1] == pytest.approx(expected, abs=1e-4)
    assert np.isnan(gains[~seen[:, 1], 1]).all()  # its result is missing
    assert torch.equal(out.x[:, 1:], torch.zeros(50, 2))


def test_likely_subsets_are_small_and_useful() -> None:
    gains = np.array([9.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    masks = likely_subsets(4000, gains, 4, torch.Generator().manual_seed(0))
    assert masks.sum(1).max() == 3
    often = masks.mean(0)
    assert often[0] > 1.4 * often[3]
    assert often[3] > 0.1


def test_value_loss_ignores_what_is_not_known() -> None:
    target = torch.tensor([[1.0, torch.nan], [torch.nan, 3.0]])
    gains = torch.zeros(2, 2, requires_grad=True)
    loss = value_loss(gains, target, torch.tensor([1.0, 2.0]))
    loss.backward()
    assert loss.item() == pytest.approx((1.0 + 2.0 * 9.0) / 2)
    assert gains.grad is not None
    assert gains.grad.isfinite().all()
