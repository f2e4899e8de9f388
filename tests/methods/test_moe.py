"""Mixture of experts: a mixture of probabilities whose router keeps all experts at work."""

from __future__ import annotations

from typing import ClassVar

import torch

from hyperdfs import DFSClassifier
from hyperdfs.nn.experts import MixtureNet, imbalance
from method_contract import MethodContract, gate

TINY = {
    "hidden": (8,),
    "random_epochs": 2,
    "own_epochs": 1,
    "predictor_hidden": (8,),
    "predictor_epochs": 2,
    "tuning_epochs": 1,
    "n_experts": 3,
}


class TestContract(MethodContract):
    method, tiny = "moe", TINY
    able: ClassVar = {"predictor_epochs": 2, "tuning_epochs": 1, "random_epochs": 40}


def make_net() -> MixtureNet:
    torch.manual_seed(0)
    return MixtureNet(n_columns=4, n_features=4, n_out=3, n_experts=5)


def test_it_mixes_probabilities_by_weights_that_depend_on_the_mask_alone() -> None:
    net = make_net()
    mask = (torch.rand(6, 4) < 0.5).float()
    x = torch.randn(6, 4) * mask
    opinions = torch.softmax(net.experts(torch.cat([x, mask], 1).unsqueeze(0)), -1)
    weights = net.weights(mask)
    mixed = torch.einsum("nk,knc->nc", weights, opinions)
    torch.testing.assert_close(net(x, mask).exp(), mixed)
    assert torch.allclose(weights.sum(1), torch.ones(6))


def test_imbalance() -> None:
    equal = torch.eye(5).repeat(3, 1)  # every row hears one expert, the batch hears all
    assert imbalance(equal) == 0.0
    one = torch.eye(5)[:1].expand(7, -1)
    assert torch.isclose(imbalance(one), torch.tensor(4.0))  # K - 1


def mean_weights(balance_weight: float) -> torch.Tensor:
    X, y = gate(200)
    config = {**TINY, "balance_weight": balance_weight, "predictor_epochs": 40, "n_bins": 0}
    clf = DFSClassifier(method="moe", max_budget=3, config=config).fit(X, y)
    net = clf._state.model.modules["predictor"][0]  # type: ignore[index]
    masks = (torch.rand(400, 5, generator=torch.Generator().manual_seed(0)) < 0.5).float()
    assert isinstance(net, MixtureNet)
    return net.weights(masks).mean(0)


def test_the_load_is_balanced() -> None:
    left_alone, balanced = mean_weights(0.0), mean_weights(1.0)
    assert balanced.std() < 0.5 * left_alone.std()
    torch.testing.assert_close(balanced, torch.full((3,), 1 / 3), atol=0.03, rtol=0)
