"""Cardinality: the number of known features alone says which specialist is heard."""

from __future__ import annotations

from typing import ClassVar

import pytest
import torch

from hyperdfs.nn.experts import CardinalityNet
from method_contract import MethodContract

TINY = {
    "hidden": (8,),
    "random_epochs": 2,
    "own_epochs": 1,
    "predictor_hidden": (8,),
    "predictor_epochs": 2,
    "tuning_epochs": 1,
}


class TestContract(MethodContract):
    method, tiny = "cardinality", TINY
    able: ClassVar = {"predictor_epochs": 2, "tuning_epochs": 1, "random_epochs": 40}


def make_net(n_features: int) -> CardinalityNet:
    torch.manual_seed(0)
    return CardinalityNet(n_columns=n_features, n_features=n_features, n_out=3, hidden=(8,))


@pytest.mark.parametrize("n_features", [4, 5])
def test_routing_is_hard(n_features: int) -> None:
    net = make_net(n_features)
    masks = torch.tril(torch.ones(n_features + 1, n_features), diagonal=-1)  # sizes 0..M
    x = torch.randn(n_features + 1, n_features) * masks
    heard = net(x, masks)
    few = n_features // 2 + 1  # rows of sizes 0..M // 2
    assert torch.equal(heard[:few], net.few(x, masks)[:few])
    assert torch.equal(heard[few:], net.many(x, masks)[few:])


def test_each_specialist_learns_from_its_own_range_only() -> None:
    net = make_net(4)
    mask = torch.tensor([[1.0, 1.0, 0.0, 0.0]] * 3)
    net(torch.randn(3, 4) * mask, mask).square().sum().backward()
    assert all(p.grad is None or not p.grad.any() for p in net.many.parameters())
    assert all(p.grad is not None and p.grad.any() for p in net.few.parameters())
