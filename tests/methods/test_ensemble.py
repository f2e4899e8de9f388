"""Ensemble: five networks, one mean."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch

from hyperdfs import DFSClassifier
from hyperdfs.nn.mlp import MaskedNet
from hyperdfs.predictors.mlp import MLPPredictor
from method_contract import MethodContract, check_gate, gate

TINY = {
    "hidden": (8,),
    "random_epochs": 2,
    "own_epochs": 1,
    "predictor_hidden": (8,),
    "predictor_epochs": 2,
    "tuning_epochs": 1,
}


class TestContract(MethodContract):
    method, tiny = "ensemble", TINY
    able: ClassVar = {"predictor_epochs": 2, "tuning_epochs": 1, "random_epochs": 40}


def test_the_prediction_is_the_mean_of_five_different_opinions() -> None:
    X, y = gate(100)
    clf = DFSClassifier(method="ensemble", max_budget=2, config=TINY).fit(X, y)
    nets = list(clf._state.model.modules["predictor"].children())
    x, mask = torch.randn(7, 5), torch.ones(7, 5)
    single = [MLPPredictor(net).proba(x, mask) for net in nets]
    assert len(nets) == 5
    assert len({float(p[0, 0]) for p in single}) == 5
    mean = clf._state.model.predictor.proba(x, mask)
    np.testing.assert_allclose(mean, torch.stack(single).mean(0), atol=1e-6)


def test_it_buys_by_vip_and_learns_from_what_vip_buys() -> None:
    config = {
        "hidden": (32,),
        "random_epochs": 20,
        "own_epochs": 2,
        "predictor_epochs": 8,
        "tuning_epochs": 5,
        "n_bins": 0,
    }
    clf = DFSClassifier(method="ensemble", max_budget=2, config=config).fit(*gate())
    check_gate(clf)
    stages = [row["stage"] for row in clf.history_]
    assert stages[-1] == "tuning"
    assert sum(name.startswith("predictor") for name in set(stages)) == 5


def test_a_network_is_heard_in_evaluation_mode() -> None:
    net = MaskedNet(n_columns=3, n_features=3, n_out=2, dropout=0.5).train()
    x, mask = torch.randn(6, 3), torch.ones(6, 3)
    predictor = MLPPredictor(net)
    assert torch.equal(predictor.proba(x, mask), predictor.proba(x, mask))
    assert net.training
