"""The order from which the selector sets out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hyperdfs.masks import ColumnMap
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.training import start_order
from hyperdfs.training.data import Rows, make_rows
from hyperdfs.training.start_order import lookahead_order, start_from


class KnownGain:
    """A stand-in for a trained predictor: a subset's loss is a formula of the mask."""

    members, n_classes = 1, 2

    def __init__(self, gain):
        self.gain = gain

    def encode(self, masks):
        gains = [self.gain(set(m.nonzero()[:, 0].tolist())) for m in masks[0]]
        return None, torch.tensor(gains).view(1, -1, 1)

    def classify_groups(self, x, code):
        logits = torch.cat([code, torch.zeros_like(code)], -1).unsqueeze(2)
        return logits.expand(-1, -1, x.shape[2], -1)

    def __call__(self, x, mask):
        logits = self.classify_groups(x.unsqueeze(2), self.encode(mask)[1])[:, :, 0]
        return type("Out", (), {"logits": logits})

    def grouped(self, x, masks):
        return type("Out", (), {"logits": self.classify_groups(x, self.encode(masks)[1])})


def order(gain, m, *, missing=False, price=None, budget=4):
    observed = np.ones((8, m), bool)
    observed[0, m - 1] = not missing
    target = np.tile([1.0, 0.0], (8, 1))
    rows = make_rows(np.ones((8, m)), observed, target, np.ones(8), ColumnMap(np.arange(m), m))
    price = torch.zeros(m) if price is None else torch.tensor(price)
    return lookahead_order(KnownGain(gain), rows, budget, price, torch.Generator().manual_seed(0))


@pytest.mark.parametrize("missing", [False, True])
def test_it_finds_a_pair_whose_members_are_worth_nothing_alone(missing):
    def gain(known):
        return 3.0 * ({1, 3} <= known) + 0.1 * (0 in known)

    found = order(gain, 5, missing=missing)
    assert set(found[:2]) == {1, 3}
    assert found[2] == 0


def test_greedy_where_features_add_up():
    worth = [0.3, 0.9, 0.1, 0.6, 0.2]
    assert order(lambda known: sum(worth[j] for j in known), 5) == [1, 3, 0, 4]


def test_a_dear_feature_comes_later():
    worth = [1.0, 0.9, 0.5]
    price = [0.5, 0.0, 0.0]
    assert order(lambda known: sum(worth[j] for j in known), 3, price=price)[0] == 1


def test_no_pairs_in_wide_tables():
    calls = []

    def gain(known):
        calls.append(len(known))
        return 0.01 * max(known, default=0)

    assert order(gain, 40, budget=2)[0] == 39
    assert max(calls) == 2  # singles of the second step, no pairs


def test_the_untrained_selector_follows_the_order():
    torch.manual_seed(0)
    selector = ScoreNet(n_columns=6, n_features=6)
    start_from(selector, [4, 1, 3])
    scores = selector(torch.zeros(1, 6), torch.zeros(1, 6))[0]
    assert scores.topk(3).indices.tolist() == [4, 1, 3]


def test_a_wide_table_narrows_down_to_its_best_features(monkeypatch):
    """After the first step only the best candidates are tried, and never fewer than the budget."""
    tried = []

    def losses(net, rows, subsets, price):
        tried.append(len(subsets))
        return torch.tensor([float(sum(subset)) for subset in subsets])

    monkeypatch.setattr(start_order, "_losses", losses)
    monkeypatch.setattr(start_order, "MOST_PAIRS", 0)
    n = 90
    columns = ColumnMap(np.arange(n), n)
    x = torch.zeros(5, n)
    rows = Rows(x, None, torch.ones(5, 2) / 2, torch.ones(5), columns)
    order = lookahead_order(None, rows, 3, torch.zeros(n), torch.Generator())
    assert order == [0, 1, 2]
    assert tried == [90, 63, 62]
    long = lookahead_order(None, rows, 80, torch.zeros(n), torch.Generator())
    assert long == list(range(80))
