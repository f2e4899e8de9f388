"""VIP: the querier learns what to ask first, and its selector serves any predictor."""

from __future__ import annotations

import numpy as np
import torch

from hyperdfs import DFSClassifier
from hyperdfs.datasets import load_dataset
from hyperdfs.masks import ColumnMap, MaskSampler, rate_uniform
from hyperdfs.methods import get_method
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.training.data import Rows, make_rows
from hyperdfs.training.histories import greedy_histories, prior_loss
from hyperdfs.training.vip import Pursuit
from method_contract import MethodContract, check_branches, check_gate, gate

TINY = {"hidden": (8,), "random_epochs": 2, "own_epochs": 1}


class TestContract(MethodContract):
    method, tiny = "vip", TINY


def test_it_finds_the_gate_and_asks_what_it_points_to() -> None:
    config = {"hidden": (32,), "random_epochs": 20, "own_epochs": 2, "n_bins": 0}
    check_gate(DFSClassifier(method="vip", max_budget=2, config=config).fit(*gate()))


def test_it_finds_the_gate_of_syn4_and_branches() -> None:
    """Below 0 the label depends on x1 and x2, above on x3 to x6."""
    data = load_dataset("syn4", n_samples=8000, seed=0)
    config = {"hidden": (128, 64), "random_epochs": 80, "n_bins": 0}
    clf = DFSClassifier(method="vip", max_budget=4, config=config).fit(data.X, data.y)
    check_branches(clf, "syn4", below={0, 1}, above={2, 3, 4, 5}, by=2)


def some_rows(n: int = 30, *, missing: float = 0.0) -> Rows:
    rng = np.random.default_rng(0)
    observed = rng.random((n, 3)) >= missing
    values = rng.normal(size=(n, 3)) * observed
    target = np.eye(2)[rng.integers(0, 2, n)]
    return make_rows(values, observed, target, np.ones(n), ColumnMap(np.arange(3), 3))


def net(n_out: int) -> MaskedNet:
    torch.manual_seed(n_out)
    return MaskedNet(n_columns=3, n_features=3, n_out=n_out, hidden=(8,))


def pursuit(held_out: np.ndarray | None = None, price: torch.Tensor | None = None) -> Pursuit:
    generator = torch.Generator().manual_seed(0)
    return Pursuit(
        net(2),
        net(3),
        MaskSampler(3, generator, held_out=held_out, draw=rate_uniform),
        max_budget=3,
        price=torch.zeros(3) if price is None else price,
        temperature=(1.0, 0.2),
        generator=generator,
    )


def test_withheld_subsets_teach_nothing() -> None:
    rows = some_rows()
    step = pursuit(held_out=np.eye(3, dtype=bool))
    loss = step.loss(rows, torch.zeros(30, 3), 1.0)
    assert torch.isclose(loss, prior_loss(step.classifier, rows) / 4)
    assert step.loss(rows, torch.ones(30, 1) * torch.tensor([1.0, 0, 0]), 1.0) > loss


def test_the_querier_learns_from_the_answer() -> None:
    step = pursuit()
    step.loss(some_rows(), step.histories.sample(30), 1.0).backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in step.querier.parameters())


def test_a_price_enters_the_loss() -> None:
    rows, history = some_rows(), torch.zeros(30, 3)
    dear = pursuit(price=torch.full((3,), 0.25)).loss(rows, history, 1.0)
    assert torch.isclose(dear, pursuit().loss(rows, history, 1.0) + 0.25)


def test_histories_hold_what_can_be_bought() -> None:
    rows = some_rows(missing=0.5)
    assert rows.observed is not None
    lengths = torch.arange(30) % 4
    masks = greedy_histories(net(3), rows, lengths)
    assert (masks <= rows.observed).all()
    assert torch.equal(masks.sum(1), torch.minimum(lengths.float(), rows.observed.sum(1)))
    longer = greedy_histories(net(3), rows, lengths + 1)
    assert (longer >= masks).all()


def test_prediction_from_nothing_becomes_the_share_of_the_classes() -> None:
    rows = some_rows()
    rows.target[:] = torch.eye(2)[(torch.arange(30) % 5 == 0).long()]  # one in five
    step = pursuit()
    optimizer = torch.optim.Adam(step.classifier.parameters(), lr=0.02)
    for _ in range(200):
        optimizer.zero_grad()
        step.loss(rows, step.histories.sample(30), 1.0).backward()
        optimizer.step()
    nothing = torch.zeros(1, 3)
    share = torch.softmax(step.classifier(nothing, nothing), -1)[0, 1].detach()
    assert abs(float(share) - 0.2) < 0.03


def test_its_selector_serves_any_predictor() -> None:
    X, y = gate(200)
    tiny = {**TINY, "n_bins": 0}
    vip = DFSClassifier(method="vip", max_budget=3, config=tiny).fit(X, y)
    other = DFSClassifier(method="ensemble", max_budget=3, config={**tiny, "predictor_epochs": 2})
    other.fit(X, y)
    np.testing.assert_array_equal(other.acquire(X, 3).order, vip.acquire(X, 3).order)


def test_the_authors_networks_see_values_only() -> None:
    config = get_method("vip").configure("authors")
    assert not config.sees_mask  # type: ignore[attr-defined]
    blind = MaskedNet(n_columns=3, n_features=3, n_out=2, sees_mask=False)
    x = torch.randn(4, 3)
    assert torch.equal(blind(x, torch.ones(4, 3)), blind(x, torch.zeros(4, 3)))
