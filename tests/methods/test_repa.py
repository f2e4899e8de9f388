"""RePa: anchored to its base, bent by the mask."""

from __future__ import annotations

from typing import ClassVar, get_args

import numpy as np
import pytest
import torch
from torch import nn

from hyperdfs import DFSClassifier
from hyperdfs.masks import ColumnMap, MaskSampler
from hyperdfs.nn.repa import Change, RepaNet
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.training.data import Rows, make_rows
from hyperdfs.training.repa import PolicySteps, anchor, with_global_opinion
from method_contract import MethodContract, check_gate, gate
from small_tables import numbers

TINY = {
    "hidden": (8,),
    "code_width": 4,
    "selector_hidden": (8,),
    "base_epochs": 2,
    "subset_epochs": 2,
    "selector_epochs": 2,
}


class TestContract(MethodContract):
    method, tiny = "repa", TINY
    able: ClassVar = {"subset_epochs": 20, "selector_epochs": 20}


def test_it_finds_the_gate_and_buys_what_it_points_to() -> None:
    config = {
        "hidden": (32, 16),
        "selector_hidden": (32,),
        "base_epochs": 10,
        "subset_epochs": 12,
        "selector_epochs": 12,
        "lr": 5e-3,
        "n_bins": 0,
    }
    check_gate(DFSClassifier(method="repa", max_budget=2, config=config).fit(*gate()))


def test_it_sets_out_from_the_best_features_of_a_wide_table() -> None:
    X, y = numbers(300, m=60)
    config = {**TINY, "subset_epochs": 20, "selector_epochs": 1, "lr": 1e-2, "n_bins": 0}
    clf = DFSClassifier(method="repa", max_budget=2, config=config).fit(X, y)
    assert (clf.acquire(X[:20], budget=1).order == 0).all()


def make_net(change: Change = "additive", *, trained: bool = False) -> RepaNet:
    torch.manual_seed(0)
    net = RepaNet(n_columns=4, n_features=3, n_classes=2, hidden=(6, 5), change=change, rank=2)
    if trained:
        with torch.no_grad():
            for parameter in net.changes.parameters():
                parameter.add_(torch.randn_like(parameter))
    return net


def some_rows(n: int = 20) -> Rows:
    rng = np.random.default_rng(0)
    target = np.eye(2)[rng.integers(0, 2, n)]
    columns = ColumnMap(np.array([0, 0, 1, 2]), 3)
    return make_rows(rng.normal(size=(n, 4)), np.ones((n, 3), bool), target, np.ones(n), columns)


@pytest.mark.parametrize("change", get_args(Change))
def test_without_changes_it_is_its_base(change: Change) -> None:
    net, x = make_net(change), torch.randn(7, 4)
    for mask in (torch.zeros(7, 3), torch.ones(7, 3), torch.eye(3)[torch.arange(7) % 3]):
        assert torch.equal(net(x, mask), net.plain(x))


@pytest.mark.parametrize("change", get_args(Change))
def test_changes_learn_from_the_first_step_and_tell_subsets_apart(change: Change) -> None:
    net = make_net(change)
    anchor(net)
    net(torch.randn(7, 4), torch.eye(3)[torch.arange(7) % 3]).square().sum().backward()
    assert any(p.grad is not None and p.grad.any() for p in net.changes.parameters())
    trained, x = make_net(change, trained=True), torch.randn(1, 4)
    outputs = [trained(x, mask.unsqueeze(0)) for mask in torch.eye(3)]
    assert not torch.allclose(outputs[0], outputs[1])


def test_additive_changes_are_added_to_the_weights() -> None:
    net = make_net(trained=True)
    x, mask = torch.randn(1, 4), torch.tensor([[1.0, 0.0, 1.0]])
    code = net.code(torch.cat([mask, 1 - mask], 1) / np.sqrt(3))
    h = net.base[0](x)
    for layer, change in zip(list(net.base)[1:], net.changes, strict=True):
        weight = layer.weight.T + change.weight(code).view(layer.in_features, -1)
        h = torch.relu(h) @ weight + layer.bias + change.bias(code)
    torch.testing.assert_close(net(x, mask), h)


def test_the_base_is_anchored_but_for_the_first_biases() -> None:
    net = make_net()
    anchor(net)
    free = {name for name, p in net.base.named_parameters() if p.requires_grad}
    assert free == {"0.bias"}
    assert all(p.requires_grad for p in net.changes.parameters())


def test_global_opinion_has_the_gradient_of_the_divergence() -> None:
    net, rows = make_net(), some_rows()
    taught = with_global_opinion(net, rows, 0.25)
    full = torch.softmax(net.plain(rows.x), -1).detach()
    logits = torch.randn(20, 2, requires_grad=True)
    log_p = torch.log_softmax(logits, -1)
    (mixed,) = torch.autograd.grad(-(taught.target * log_p).sum(), logits, retain_graph=True)
    divergence = (full * (full.log() - log_p)).sum()
    (apart,) = torch.autograd.grad(0.75 * -(rows.target * log_p).sum() + 0.25 * divergence, logits)
    torch.testing.assert_close(mixed, apart)


def test_the_selector_learns_and_withheld_subsets_teach_nothing() -> None:
    rows, generator = some_rows(), torch.Generator().manual_seed(0)
    everything = np.array([[i >> j & 1 for j in range(3)] for i in range(1, 7)], bool)
    for held_out, learns in ((None, True), (everything, False)):
        scores = ScoreNet(n_columns=4, n_features=3, hidden=(8,))
        sampler = MaskSampler(3, generator, held_out=held_out)
        steps = PolicySteps(
            make_net(trained=True), scores, sampler, 2, torch.zeros(3), (1.0, 0.2), generator
        )
        steps.loss(rows, 1.0).backward()
        grads = [p.grad for p in nn.ModuleList([scores]).parameters()]
        assert any(grad is not None and bool(grad.any()) for grad in grads) is learns
