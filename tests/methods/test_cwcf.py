"""CWCF: Q-values against exact dynamic programming, Retrace by hand, episodes, probabilities."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor

from hyperdfs import DFSClassifier
from hyperdfs.masks import ColumnMap, MaskSampler
from hyperdfs.nn.dueling import DuelingNet
from hyperdfs.predictors.cwcf import ClassActions
from hyperdfs.training.cwcf import CwcfConfig, QLearning, mostly_few
from hyperdfs.training.cwcf_episodes import (
    Environment,
    Episodes,
    Pool,
    allowed_actions,
    greedy_with,
    retrace_targets,
)
from hyperdfs.training.data import Rows, make_rows
from method_contract import MethodContract, check_gate, gate

TINY = {
    "hidden": (8,),
    "pretrain_epochs": 2,
    "parallel": 16,
    "batch_steps": 64,
    "interval": 5,
    "max_intervals": 2,
}
QUICK = {
    "hidden": (32, 32),
    "pretrain_epochs": 10,
    "parallel": 64,
    "batch_steps": 256,
    "interval": 100,
    "max_intervals": 3,
    "learning_rate": 2e-3,
    "price": 0.05,  # at 0.01 the error of Q on 200 rows is larger than what a dear twin costs
}


class TestContract(MethodContract):
    method, tiny, able = "cwcf", TINY, QUICK


def cube_rows(observed: np.ndarray | None = None) -> Rows:
    """All eight corners of three coins, each with its odds of class 1: the whole population."""
    x = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
    odds = np.array([0.05, 0.2, 0.7, 0.9, 0.1, 0.95, 0.3, 0.8])
    seen = np.ones((8, 3), bool) if observed is None else observed
    target = np.stack([1.0 - odds, odds], 1)
    return make_rows(x * seen, seen, target, np.ones(8), ColumnMap(np.arange(3), 3))


def exact_q(rows: Rows, price: list[float], state: tuple[int, ...]) -> dict[int, float]:
    """Q of every allowed action by enumeration; the state holds -1, 1 or 0 for not known."""
    x, target = rows.x.numpy(), rows.target.numpy()

    @cache
    def q(state: tuple[int, ...]) -> dict[int, float]:
        alike = np.all([(s == 0) | (x[:, j] == s) for j, s in enumerate(state)], 0)
        result = {c: target[alike, c].mean() - 1.0 for c in range(2)}
        for j in (j for j in range(3) if state[j] == 0):
            after = [max(q((*state[:j], v, *state[j + 1 :])).values()) for v in (-1, 1)]
            result[2 + j] = -price[j] + np.mean(after)
        return result

    return q(state)


def learner(rows: Rows, config: CwcfConfig, price: list[float], **kwargs: object) -> QLearning:
    torch.manual_seed(0)
    net = DuelingNet(n_columns=3, n_features=3, n_classes=2, hidden=config.hidden)
    generator = torch.Generator().manual_seed(0)
    sampler = MaskSampler(3, generator, **kwargs)  # type: ignore[arg-type]
    return QLearning(net, rows, config, torch.tensor(price), 3, sampler, generator)


@pytest.mark.parametrize("all_classes", [True, False])
def test_q_values_are_those_of_dynamic_programming(all_classes: bool) -> None:
    rows, price = cube_rows(), [0.02, 0.05, 0.1]
    config = CwcfConfig(
        hidden=(32, 32),
        parallel=64,
        pool=10_000,
        batch_steps=1000,
        interval=80,
        max_intervals=3,
        weight_decay=0.0,
        target_rate=0.1,
        all_classes=all_classes,
    )
    learning = learner(rows, config, price)
    falling = itertools.count(0, -1)
    for rate in (5e-3, 5e-4):  # the noise of large steps would hide small errors
        learning.config = config.model_copy(update={"learning_rate": rate})
        learning.fit(lambda: float(next(falling)), lambda *_: None)
    states = list(itertools.product([-1, 0, 1], repeat=3))
    x = torch.tensor(states, dtype=torch.float32)
    with torch.no_grad():
        learned = learning.net(x, x.abs())
    errors, best = [], []
    for state, q in zip(states, learned, strict=True):
        exact = exact_q(rows, price, state)
        # Without shared rewards, classes that nobody would name are seldom tried.
        errors += [abs(float(q[a]) - value) for a, value in exact.items() if all_classes or a > 1]
        chosen = max(exact, key=lambda a: float(q[a]))
        best.append(max(exact.values()) - exact[chosen])
    assert max(errors) < 0.06
    assert np.mean(errors) < 0.02
    assert max(best) < 0.02  # acting by the network loses next to nothing


def test_retrace_by_hand() -> None:
    """Three steps, then a class; an episode of one step beside it."""
    reward = torch.tensor([[-0.1, -0.1, -1.0], [-0.4, 9.0, 9.0]])
    q = torch.tensor([[[-0.3, -0.2], [-0.5, -0.4], [-0.8, -0.6]]]).repeat(2, 1, 1)
    policy = torch.tensor([[[0.5, 0.5], [0.25, 0.75], [0.2, 0.8]]]).repeat(2, 1, 1)
    action = torch.tensor([[1, 0, 1], [0, 0, 0]])
    mu = torch.tensor([[1.0, 0.5, 0.4], [1.0, 1.0, 1.0]])
    target = retrace_targets(reward, q, policy, action, mu, torch.tensor([3, 1]))
    last = -1.0
    value = 0.2 * -0.8 + 0.8 * -0.6
    middle = -0.1 + value + 1.0 * (last - -0.6)  # min(1, 0.8 / 0.4) = 1
    value = 0.25 * -0.5 + 0.75 * -0.4
    first = -0.1 + value + 0.5 * (middle - -0.5)  # 0.25 / 0.5
    assert target[0].tolist() == pytest.approx([first, middle, last])
    assert float(target[1, 0]) == pytest.approx(-0.4)
    high = retrace_targets(reward, q + 5.0, policy, action, mu, torch.tensor([3, 1]))
    assert (high[0] <= 0).all()


def test_greedy_policy_sums_to_one_and_keeps_to_what_is_allowed() -> None:
    q = torch.tensor([[3.0, 1.0, 2.0], [0.0, 0.0, 5.0]])
    allowed = torch.tensor([[False, True, True], [True, True, True]])
    policy = greedy_with(0.3, q, allowed)
    assert torch.allclose(policy, torch.tensor([[0.0, 0.15, 0.85], [0.1, 0.1, 0.8]]))


def test_allowed_actions() -> None:
    mask = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    available = torch.tensor([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    allowed = allowed_actions(mask, available, 2, 2)
    assert allowed.tolist() == [[True, True, False, False, True], [True, True] + 3 * [False]]


def run_cases(observed: np.ndarray | None = None, max_budget: int = 2) -> tuple[Rows, Episodes]:
    rows = cube_rows(observed)
    generator = torch.Generator().manual_seed(0)
    pool = Pool(60, max_budget + 1, torch.device("cpu"))
    torch.manual_seed(0)
    net = DuelingNet(n_columns=3, n_features=3, n_classes=2, hidden=(4,))
    cases = Environment(rows, 20, max_budget=max_budget, pool=pool, generator=generator)
    for _ in range(40):
        cases.step(net, 0.5)
    assert pool.filled == 60  # more have ended; the last are kept
    return rows, pool.sample(200, generator)


def test_episodes_end_with_a_class_within_the_budget() -> None:
    observed = np.ones((8, 3), bool)
    observed[:4, 1] = False
    rows, episodes = run_cases(observed)
    steps, masks = episodes.steps(), episodes.masks(2, 3)
    assert (masks <= rows.available()[episodes.row].unsqueeze(1))[steps].all()
    assert ((episodes.action >= 2) | ~steps)[:, 0].float().mean() > 0.3
    for action, length, known in zip(
        episodes.action.tolist(), episodes.length.tolist(), masks, strict=True
    ):
        assert action[length - 1] < 2
        assert all(a >= 2 for a in action[: length - 1])
        assert len(set(action[:length])) == length
        assert known[:length, :].sum(1).tolist() == list(range(length))
    assert ((episodes.mu > 0) & (episodes.mu <= 1)).all()


def test_every_other_case_spends_the_budget() -> None:
    """Under a policy that would name class 1 at once."""
    pool = Pool(100, 3, torch.device("cpu"))
    generator = torch.Generator().manual_seed(0)
    net = DuelingNet(n_columns=3, n_features=3, n_classes=2, hidden=(4,))
    with torch.no_grad():
        net.net.head.bias[2] = 100.0
    cases = Environment(cube_rows(), 10, max_budget=2, pool=pool, generator=generator)
    for _ in range(3):
        cases.step(net, 0.0)
    lengths = torch.bincount(pool.sample(500, generator).length)
    assert pool.filled == 20  # five cases ended three times, five once
    assert lengths[2] == 0
    assert 0.2 < float(lengths[3] / 500) < 0.3


def test_withheld_subsets_teach_nothing() -> None:
    """All states but the empty one are withheld: only the first step counts."""
    held_out = np.array(list(itertools.product([0, 1], repeat=3)))[1:-1].astype(bool)
    _, episodes = run_cases()
    config = CwcfConfig(hidden=(4,), all_classes=True)
    learning = learner(cube_rows(), config, [0.1] * 3, held_out=held_out)
    grads: list[Tensor] = []

    def watch(net: object, inputs: object, q: Tensor) -> None:
        q.register_hook(grads.append)

    learning.net.register_forward_hook(watch)
    learning.loss(episodes, 0.1).backward()
    withheld = episodes.masks(2, 3)[episodes.steps()].sum(1) > 0
    assert (grads[0][withheld] == 0).all()
    assert (grads[0][~withheld] != 0).any(1).all()


def test_probabilities_keep_the_order_of_the_class_actions() -> None:
    net = DuelingNet(n_columns=3, n_features=3, n_classes=4, hidden=(4,))
    q = torch.tensor([[-0.3, -0.7, -1.2, 0.1], [-1.4, -1.2, -1.3, -1.1], [-0.6, -0.5, -0.9, -1.0]])
    net.forward = lambda x, mask: torch.cat([q, torch.zeros(3, 3)], 1)  # type: ignore[method-assign]
    proba = ClassActions(net).proba(torch.zeros(3, 3), torch.zeros(3, 3))
    assert torch.allclose(proba.sum(1), torch.ones(3))
    assert torch.equal(proba.argsort(1), q.argsort(1))
    assert torch.allclose(proba[2], torch.tensor([0.4, 0.5, 0.1, 0.0]), atol=2e-3)


def test_random_masks_are_mostly_small() -> None:
    masks = mostly_few(20_000, 10, torch.Generator().manual_seed(0))
    assert float(masks.mean()) == pytest.approx(0.25, abs=0.01)  # E u³
    assert float((masks.sum(1) <= 1).float().mean()) > 0.4


def test_it_finds_the_gate() -> None:
    config = {"n_bins": 0, **QUICK}
    check_gate(DFSClassifier(method="cwcf", max_budget=2, config=config).fit(*gate()))


def test_many_features() -> None:
    X = np.random.default_rng(0).normal(size=(60, 689))
    clf = DFSClassifier(method="cwcf", max_budget=3, config=TINY).fit(X, X[:, 0] > 0)
    assert clf.acquire(X[:3]).order.shape == (3, 3)
