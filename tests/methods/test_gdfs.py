"""GDFS: the selector learns what lowers the loss one purchase ahead."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hyperdfs import DFSClassifier
from hyperdfs.datasets import load_dataset
from hyperdfs.masks import ColumnMap, MaskSampler
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.training.data import Rows, make_rows
from hyperdfs.training.gdfs import Greedy
from method_contract import MethodContract, check_branches, check_gate, gate

TINY = {"hidden": (8,), "predictor_epochs": 2, "round_epochs": 1, "rounds": 2}


class TestContract(MethodContract):
    method, tiny = "gdfs", TINY


def test_it_finds_the_gate_and_buys_what_it_points_to() -> None:
    config = {
        "hidden": (32,),
        "dropout": 0.0,
        "predictor_epochs": 20,
        "round_epochs": 8,
        "rounds": 3,
        "lr": 5e-3,
        "n_bins": 0,
    }
    check_gate(DFSClassifier(method="gdfs", max_budget=2, config=config).fit(*gate()))


def test_it_finds_the_gate_of_syn6_and_branches() -> None:
    """Below 0 the label depends on x3 to x6, above on x7 to x10."""
    data = load_dataset("syn6", n_samples=3000, seed=0)
    config = {
        "hidden": (64,),
        "dropout": 0.0,
        "predictor_epochs": 40,
        "round_epochs": 10,
        "rounds": 3,
        "lr": 3e-3,
        "n_bins": 0,
    }
    clf = DFSClassifier(method="gdfs", max_budget=4, config=config).fit(data.X, data.y)
    check_branches(clf, "syn6", below={2, 3, 4, 5}, above={6, 7, 8, 9}, by=3)


def some_rows(n: int = 30, *, missing: float = 0.0) -> Rows:
    rng = np.random.default_rng(0)
    observed = rng.random((n, 3)) >= missing
    values = rng.normal(size=(n, 3)) * observed
    target = np.eye(2)[rng.integers(0, 2, n)]
    return make_rows(values, observed, target, np.ones(n), ColumnMap(np.arange(3), 3))


def greedy(max_budget: int = 2, held_out: np.ndarray | None = None, price: float = 0.0) -> Greedy:
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    predictor, selector = (
        MaskedNet(n_columns=3, n_features=3, n_out=n_out, hidden=(8,)) for n_out in (2, 3)
    )
    sampler = MaskSampler(3, generator, held_out=held_out)
    return Greedy(predictor, selector, sampler, max_budget, torch.full((3,), price), 1.0, generator)


def test_both_networks_learn_from_every_step() -> None:
    step = greedy()
    step.loss(some_rows(), 1.0).backward()
    for net in (step.predictor, step.selector):
        assert all(p.grad is not None and p.grad.any() for p in net.parameters())


def test_withheld_subsets_teach_nothing() -> None:
    singles = np.eye(3, dtype=bool)
    assert greedy(1, held_out=singles).loss(some_rows(), 1.0) == 0.0
    assert greedy(2, held_out=singles).loss(some_rows(), 1.0) > 0.0


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_a_price_enters_the_loss_of_each_purchase(missing: float) -> None:
    rows = some_rows(missing=missing)
    dear, free = (greedy(3, price=price).loss(rows, 1.0) for price in (0.25, 0.0))
    bought = rows.available().sum(1).mean() / 3  # purchases that are possible, by step and row
    assert torch.isclose(dear, free + 0.25 * bought)
