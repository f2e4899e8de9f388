"""DIME: values that approach the conditional mutual information."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hyperdfs import DFSClassifier
from hyperdfs.masks import ColumnMap, MaskSampler
from hyperdfs.methods.dime import prices
from hyperdfs.nn.value import ValueNet
from hyperdfs.selectors.value import ValueSelector
from hyperdfs.training.data import Rows, make_rows, shuffled_batches
from hyperdfs.training.dime import ValueSteps
from method_contract import MethodContract, check_gate, gate

TINY = {"hidden": (8,), "predictor_epochs": 2, "round_epochs": 1, "rounds": 2}
LEARNING = {"hidden": (32,), "dropout": 0.0, "lr": 5e-3, "n_bins": 0, "explore": 0.3}


class TestContract(MethodContract):
    method, tiny = "dime", TINY


def test_it_finds_the_gate_and_buys_what_it_points_to() -> None:
    config = {**LEARNING, "predictor_epochs": 20, "round_epochs": 8, "rounds": 3}
    check_gate(DFSClassifier(method="dime", max_budget=2, config=config).fit(*gate()))


def some_rows(n: int = 30) -> Rows:
    rng = np.random.default_rng(0)
    target = np.eye(2)[rng.integers(0, 2, n)]
    columns = ColumnMap(np.arange(3), 3)
    return make_rows(rng.normal(size=(n, 3)), np.ones((n, 3), bool), target, np.ones(n), columns)


def make_net(hidden: tuple[int, ...] = (8,)) -> ValueNet:
    torch.manual_seed(0)
    return ValueNet(n_columns=3, n_features=3, n_classes=2, hidden=hidden)


def test_values_approach_the_mutual_information() -> None:
    """y copies feature 0 but for one flip in ten: I(y; x0) = ln 2 - H(0.1), and noise tells 0."""
    rng = np.random.default_rng(0)
    x = rng.choice([-1.0, 1.0], (4000, 3))
    y = (x[:, 0] > 0) ^ (rng.random(4000) < 0.1)
    columns = ColumnMap(np.arange(3), 3)
    rows = make_rows(x, np.ones((4000, 3), bool), np.eye(2)[y.astype(int)], np.ones(4000), columns)
    generator = torch.Generator().manual_seed(0)
    net = make_net(hidden=(32,))
    steps = ValueSteps(net, MaskSampler(3, generator), 2, generator)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for _ in range(15):
        for index in shuffled_batches(len(rows), 200, generator=generator):
            optimizer.zero_grad()
            steps.loss(rows.take(index), explore=0.5).backward()
            optimizer.step()
    nothing, first = torch.zeros(1, 3), torch.tensor([[1.0, 0.0, 0.0]])
    with torch.no_grad():
        before, after = (net.outlook(known, known)[1][0] for known in (nothing, first))
    flip = -(0.1 * np.log(0.1) + 0.9 * np.log(0.9))
    assert before[0] == pytest.approx(np.log(2) - flip, abs=0.05)
    assert before[1:].max() < 0.05
    assert after[1:].max() < 0.05


def test_no_value_exceeds_what_is_left_to_know() -> None:
    net = make_net()
    rows = some_rows()
    with torch.no_grad():
        net.value.bias.fill_(50.0)
        logits, values = net.outlook(rows.x, torch.ones(30, 3))
    entropy = torch.distributions.Categorical(logits=logits).entropy()
    torch.testing.assert_close(values, entropy.unsqueeze(1).expand(-1, 3))


def test_values_move_the_prediction_only_through_the_shared_layers() -> None:
    net, rows = make_net(), some_rows()
    net.outlook(rows.x, torch.ones(30, 3))[1].sum().backward()
    assert net.head.weight.grad is None
    assert net.value.weight.grad is not None


def test_withheld_subsets_teach_nothing() -> None:
    """With every single withheld, the first purchase teaches neither prediction nor value."""
    net, rows = make_net(), some_rows()
    generator = torch.Generator().manual_seed(0)
    sampler = MaskSampler(3, generator, held_out=np.eye(3, dtype=bool))
    steps = ValueSteps(net, sampler, 1, generator)
    loss = steps.loss(rows, explore=1.0)
    nothing = torch.zeros(30, 3)
    prior = -(torch.log_softmax(net(nothing, nothing), -1) * rows.target).sum(-1).mean()
    assert torch.isclose(loss, prior / 2)


def test_a_dear_feature_must_be_worth_its_price() -> None:
    net = make_net()
    nothing = torch.zeros(1, 3)
    free = ValueSelector(net).scores(nothing, nothing)
    best = int(free.argmax())
    costs = np.ones(3)
    costs[best] = 50.0
    net.price.copy_(prices(costs))
    assert int(ValueSelector(net).scores(nothing, nothing).argmax()) != best


def test_equal_costs_are_one() -> None:
    assert torch.equal(prices(np.full(7, 0.1)), torch.ones(7))
    assert (prices(np.array([0.0, 1.0])) > 0).all()
