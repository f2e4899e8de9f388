"""Schedule, clipping, best weights."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from hyperdfs.training.loop import (
    BestWeights,
    DivergedError,
    Trainer,
    clip_gradients,
    warmup_cosine,
)


def test_the_schedule_warms_up_and_cools_down():
    factors = [warmup_cosine(step, warmup=10, total=110) for step in range(111)]
    assert factors[0] == pytest.approx(0.01)
    assert factors[5] == pytest.approx(0.01 + 0.99 / 2)
    assert factors[10] == pytest.approx(1.0)
    assert factors[60] == pytest.approx(0.505)
    assert factors[110] == pytest.approx(0.01)
    assert factors[:11] == sorted(factors[:11])
    assert factors[10:] == sorted(factors[10:], reverse=True)
    assert warmup_cosine(500, warmup=10, total=110) == pytest.approx(0.01)
    assert warmup_cosine(0, warmup=0, total=0) == pytest.approx(1.0)


def test_clipping_is_torchs_for_a_whole_network():
    torch.manual_seed(0)
    ours, theirs = nn.Linear(4, 3), nn.Linear(4, 3)
    for net in (ours, theirs):
        for p in net.parameters():
            p.grad = 3 * torch.ones_like(p)
    clip_gradients(ours.parameters(), 5.0, per_member=False)
    torch.nn.utils.clip_grad_norm_(theirs.parameters(), 5.0)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad)


def test_clipping_one_member_leaves_the_others():
    p = nn.Parameter(torch.zeros(3, 4))
    q = nn.Parameter(torch.zeros(3, 2, 2))
    p.grad, q.grad = torch.ones(3, 4), torch.ones(3, 2, 2)
    p.grad[1] *= 100
    before = q.grad.clone()
    clip_gradients([p, q], 5.0, per_member=True)
    norms = torch.sqrt(p.grad.square().sum(1) + q.grad.square().sum((1, 2)))
    assert norms[1] == pytest.approx(5.0, rel=1e-4)
    assert torch.equal(q.grad[[0, 2]], before[[0, 2]])
    clip_gradients([nn.Parameter(torch.zeros(1))], 1.0, per_member=False)  # no gradient at all


def test_a_loss_that_is_not_finite_stops_the_run():
    net = nn.Linear(1, 1)
    trainer = Trainer([(net, 0.1, False)], weight_decay=0, clip=1, warmup_steps=0, total_steps=5)
    before = net.weight.detach().clone()
    for value in (math.nan, math.inf):
        with pytest.raises(DivergedError):
            trainer.step(net.weight.sum() * value)
    assert torch.equal(net.weight, before)


def test_the_learning_rate_follows_the_schedule_for_each_group():
    first, second = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    trainer = Trainer(
        [(first, 0.1, False), (second, 0.01, False)],
        weight_decay=0.0,
        clip=5.0,
        warmup_steps=2,
        total_steps=4,
    )
    for step in range(3):
        trainer.step(first.weight.sum() + second.weight.sum())
        factor = warmup_cosine(step, warmup=2, total=4)
        rates = [float(group["lr"]) for group in trainer.optimizer.param_groups]
        assert rates == pytest.approx([0.1 * factor, 0.01 * factor])


class TestBestWeights:
    def net(self, members):
        net = nn.Module()
        net.w = nn.Parameter(torch.zeros(members, 2))
        return net

    def test_each_member_returns_to_its_own_best_epoch(self):
        net = self.net(2)
        best = BestWeights(net, 2, patience=3)
        scores = [[3.0, 1.0], [2.0, 2.0], [4.0, 0.5], [1.0, 9.0]]
        for epoch, score in enumerate(scores):
            with torch.no_grad():
                net.w.fill_(float(epoch))
            assert not best.update(torch.tensor(score))
        best.restore()
        assert net.w.tolist() == [[3, 3], [2, 2]]
        assert best.score.tolist() == [1.0, 0.5]

    def test_patience_counts_epochs_without_any_progress(self):
        best = BestWeights(self.net(2), 2, patience=2)
        assert not best.update(torch.tensor([1.0, 1.0]))
        assert not best.update(torch.tensor([1.0, 1.0]))
        assert not best.update(torch.tensor([2.0, 0.5]))
        assert not best.update(torch.tensor([2.0, 2.0]))
        assert best.update(torch.tensor([2.0, 2.0]))

    def test_scores_that_are_never_finite_leave_the_first_weights(self):
        net = self.net(1)
        best = BestWeights(net, 1, patience=9)
        with torch.no_grad():
            net.w.fill_(math.nan)
        best.update(torch.tensor([math.inf]))
        best.restore()
        assert net.w.tolist() == [[0, 0]]

    def test_scores_may_come_from_another_device(self):
        class Elsewhere:
            """Nothing can be done with it but to bring it here."""

            def __init__(self, *values):
                self._values = values

            def cpu(self):
                return torch.tensor(self._values)

        net = self.net(2)
        best = BestWeights(net, 2, patience=1)
        assert not best.update(Elsewhere(1.0, 2.0))
        with torch.no_grad():
            net.w.fill_(1.0)
        assert not best.update(Elsewhere(3.0, 1.0))
        assert best.score.tolist() == [1.0, 1.0]
        best.restore()
        assert net.w.tolist() == [[0, 0], [1, 1]]
