"""Simulated purchases: equal to the textbook walk, and blind to what was not bought."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from hyperdfs.acquisition import walk
from hyperdfs.masks import ColumnMap
from hyperdfs.nn.hyper import ConcatNet, HyperNet
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.predictors.network import NetworkPredictor
from hyperdfs.selectors.learned import LearnedSelector

sys.path.insert(0, str(Path(__file__).parent / "nn"))
import textbook


def make_model(m, d=None, *, kind=HyperNet, encoder="inducing_pool", members=1):
    torch.manual_seed(0)
    shape = {"n_columns": d or m, "n_features": m}
    net = kind(**shape, n_classes=3, members=members, encoder=encoder, token_dim=8, condition_dim=6)
    return net, ScoreNet(**shape, hidden=(16, 16))


@pytest.mark.parametrize("encoder", ["set_transformer", "inducing_pool", "deep_sets"])
@pytest.mark.parametrize("m", [1, 4, 20])
def test_walk_equals_the_textbook(encoder, m):
    net, scores = make_model(m, encoder=encoder)
    x = torch.randn(150, m)
    columns = ColumnMap(np.arange(m), m)
    path = walk(
        NetworkPredictor(net), LearnedSelector(scores), x, torch.ones(150, m), columns, min(m, 5)
    )
    order, proba = textbook.walk(
        textbook.hypernet_like(net), textbook.scores_like(scores), x, min(m, 5)
    )
    np.testing.assert_array_equal(path.order, order.numpy())
    np.testing.assert_allclose(path.proba, proba.numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", [HyperNet, ConcatNet])
@pytest.mark.parametrize("encoder", ["set_transformer", "inducing_pool"])
def test_nothing_moves_when_unbought_values_change(kind, encoder):
    m, d, budget = 8, 13, 4
    group = np.r_[np.arange(m), np.zeros(d - m, int)]
    net, scores = make_model(m, d, kind=kind, encoder=encoder, members=2)
    columns = ColumnMap(group, m)
    available = (torch.rand(60, m) < 0.8).float()
    x = torch.randn(60, d) * columns.expand(available)
    model = NetworkPredictor(net), LearnedSelector(scores)
    before = walk(*model, x, available, columns, budget)
    bought = torch.zeros(60, m).scatter_(1, torch.from_numpy(before.order), 1.0)
    other = torch.where(columns.expand(bought) > 0, x, 100.0 * torch.randn(60, d))
    after = walk(*model, other, available, columns, budget)
    np.testing.assert_array_equal(after.order, before.order)
    np.testing.assert_array_equal(after.proba, before.proba)


def test_a_missing_result_spends_a_step_and_teaches_nothing():
    net, scores = make_model(5)
    columns, x = ColumnMap(np.arange(5), 5), torch.zeros(3, 5)
    path = walk(NetworkPredictor(net), LearnedSelector(scores), x, torch.zeros(3, 5), columns, 5)
    assert (np.sort(path.order, 1) == np.arange(5)).all()
    np.testing.assert_array_equal(path.proba, path.proba[:, :1].repeat(6, 1))
