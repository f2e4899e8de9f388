"""The running mean of the weights."""

from __future__ import annotations

import torch
from torch import nn

from hyperdfs.training.loop import BestWeights, RunningMean


def walk(module: nn.Linear, mean: RunningMean, steps: int) -> list[torch.Tensor]:
    seen = []
    for step in range(steps):
        with torch.no_grad():
            module.weight.fill_(float(step))
        seen.append(module.weight.detach().clone())
        mean.update()
    return seen


def test_it_is_the_plain_mean_at_first():
    module = nn.Linear(2, 2)
    mean = RunningMean(module, horizon=10)
    seen = walk(module, mean, 5)
    with mean.applied():
        torch.testing.assert_close(module.weight.detach(), torch.stack(seen).mean(0))


def test_later_it_forgets_exponentially():
    module = nn.Linear(1, 1)
    mean = RunningMean(module, horizon=4)
    walk(module, mean, 50)
    with mean.applied():
        assert 45.0 < module.weight.item() < 47.0  # 49 minus about horizon - 1


def test_the_module_gets_its_own_weights_back():
    module = nn.Linear(2, 2)
    mean = RunningMean(module, horizon=5)
    walk(module, mean, 8)
    before = module.weight.detach().clone()
    with mean.applied():
        assert not torch.equal(module.weight, before)
    assert torch.equal(module.weight, before)


def test_no_horizon_leaves_the_weights_alone():
    module = nn.Linear(2, 2)
    mean = RunningMean(module, horizon=0)
    seen = walk(module, mean, 3)
    with mean.applied():
        assert torch.equal(module.weight, seen[-1])


def test_the_best_weights_are_kept_for_each_member_by_itself():
    module = nn.Module()
    module.weight = nn.Parameter(torch.zeros(2, 3))
    best = BestWeights(module, members=2, patience=9)
    for value, score in ((1.0, [0.5, 0.5]), (2.0, [0.4, 0.6]), (3.0, [0.7, 0.3])):
        with torch.no_grad():
            module.weight.fill_(value)
        best.update(torch.tensor(score))
    best.restore()
    assert module.weight.tolist() == [[2.0] * 3, [3.0] * 3]
