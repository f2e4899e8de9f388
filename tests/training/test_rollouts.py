"""Stage 3: what trying purchases out says, and that a policy which is no better is not kept."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hyperdfs.config import make_config
from hyperdfs.features import FeatureSpace
from hyperdfs.fitting import fit_state
from hyperdfs.masks import ColumnMap
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.selectors.learned import LearnedSelector
from hyperdfs.training.data import make_rows
from hyperdfs.training.policy_scores import PolicyScores, policy_scores
from hyperdfs.training.rollouts import (
    CANDIDATES,
    Rollouts,
    State,
    centred,
    clearly_less,
    fit_by_rollouts,
)
from small_tables import TINY, numbers

GATE, LEFT, RIGHT = 0, 1, 2


class Gated:
    """p(y | x_S) where y is the left or the right sign, as the gate says: exact for any subset."""

    def proba(self, x, mask):
        half = x.new_full((len(x),), 0.5)
        left = torch.where(mask[:, LEFT] > 0, (x[:, LEFT] > 0).to(x), half)
        right = torch.where(mask[:, RIGHT] > 0, (x[:, RIGHT] > 0).to(x), half)
        through = torch.where(x[:, GATE] > 0, left, right)
        p = torch.where(mask[:, GATE] > 0, through, (left + right) / 2).clamp(0.02, 0.98)
        return torch.stack([1.0 - p, p], 1)


def gated_rows(n, *, seed=0, observed=None, taught=None):
    x = np.random.default_rng(seed).choice([-1.0, 1.0], size=(n, 3))
    y = np.where(x[:, GATE] > 0, x[:, LEFT], x[:, RIGHT]) > 0
    observed = np.ones((n, 3), bool) if observed is None else observed
    target = np.eye(2)[y.astype(int)]
    columns = ColumnMap(np.arange(3), 3)
    return make_rows(x * observed, observed, target, np.ones(n), columns, taught=taught)


def score_net(seed=0):
    torch.manual_seed(seed)
    return ScoreNet(n_columns=3, n_features=3, hidden=(16,))


def static_net(order):
    """A selector that buys in one order whatever it sees."""
    net = score_net()
    with torch.no_grad():
        net.head.weight.zero_()
        net.head.bias.copy_(torch.tensor([-float(order.index(j)) for j in range(3)]))
    return net


def tries(net, *, budget=2, price=None):
    price = torch.zeros(3) if price is None else torch.tensor(price)
    return Rollouts(Gated(), net, budget, price, torch.Generator().manual_seed(0))


def improved(selector, *, lr=1e-2, price=None):
    config = make_config("default", {"rollout_steps": 150, "rollout_lr": lr})
    history = fit_by_rollouts(
        selector,
        score_net(1).state_dict(),
        gated_rows(1200),
        gated_rows(400, seed=1),
        config,
        predictor=Gated(),
        policy=LearnedSelector(selector),
        max_budget=2,
        price=torch.zeros(3) if price is None else torch.tensor(price),
        generator=torch.Generator().manual_seed(0),
        progress=lambda *_: None,
    )
    return history, policy_scores(
        Gated(), LearnedSelector(selector), gated_rows(500, seed=2), 2, torch.zeros(3)
    )


def textbook_loss(rollouts, rows, row, mask, candidate, bought, target):
    """One row, one candidate, step by step."""
    mask, total, choice = mask.clone(), 0.0, candidate
    for step in range(bought, rollouts.budget):
        if rows.available()[row, choice] > 0 and not mask[choice]:
            mask[choice] = 1.0
        known = (rows.x[row] * mask).unsqueeze(0)
        p = rollouts.predictor.proba(known, mask.unsqueeze(0))[0]
        if step >= 1:  # scores begin with two purchases
            total -= sum(float(target[row, c]) * math.log(float(p[c])) for c in range(2))
            total += float((mask * rollouts.price).sum())
        if step + 1 < rollouts.budget:
            scores = rollouts.selector(known, mask.unsqueeze(0))[0].detach()
            left = [j for j in range(3) if rows.available()[row, j] > 0 and not mask[j]]
            if not left:
                continue
            choice = max(left, key=lambda j: float(scores[j]))
    return total


@pytest.mark.parametrize("price", [[0.0, 0.0, 0.0], [0.3, -0.1, -0.2]])
@pytest.mark.parametrize("complete", [True, False])
def test_losses_equal_purchases_tried_one_at_a_time(price, complete):
    n = 40
    observed = None if complete else np.random.default_rng(3).random((n, 3)) < 0.7
    taught = np.random.default_rng(4).dirichlet([1, 1], n)
    rows = gated_rows(n, observed=observed, taught=taught)
    rollouts = tries(score_net(), budget=3, price=price)
    for bought in (0, 1):
        state = rollouts.visit(rows, bought)
        scores = rollouts.scores(rows, state)
        candidates = rollouts.candidates(scores, state, bought)
        open_ = ~state.closed.gather(1, candidates)
        found = rollouts.losses(rows, state, candidates, bought)
        for row, place in open_.nonzero().tolist():
            by_hand = textbook_loss(
                rollouts, rows, row, state.mask[row], int(candidates[row, place]), bought, taught
            )
            assert float(found[row, place]) == pytest.approx(by_hand, abs=1e-4)


def test_what_teachers_say_counts_for_more_than_the_label():
    taught = np.random.default_rng(4).dirichlet([1, 1], 30)
    rows = gated_rows(30, taught=taught)
    rollouts, everything = tries(score_net()), torch.arange(3).expand(30, -1)

    def losses(rows):
        return rollouts.losses(rows, rollouts.visit(rows, 0), everything, 0)

    torch.testing.assert_close(losses(rows), losses(replace(rows, target=1.0 - rows.target)))
    assert not torch.allclose(losses(rows), losses(replace(rows, taught=None)))


@given(seed=st.integers(0, 99), bought=st.integers(0, 18), complete=st.booleans())
def test_candidates_are_different_and_open_while_any_are_left(seed, bought, complete):
    m, n = 20, 16
    rng = np.random.default_rng(seed)
    observed = np.ones((n, m), bool) if complete else rng.random((n, m)) < 0.6
    columns = ColumnMap(np.arange(m), m)
    rows = make_rows(rng.normal(size=(n, m)), observed, np.eye(2)[[0] * n], np.ones(n), columns)
    torch.manual_seed(seed)
    net = ScoreNet(n_columns=m, n_features=m, hidden=(4,))
    rollouts = Rollouts(Gated(), net, m, torch.zeros(m), torch.Generator().manual_seed(seed))
    state = rollouts.visit(rows, bought)
    assert not (state.mask.bool() & ~torch.as_tensor(observed)).any()
    assert (state.mask.sum(1) == torch.as_tensor(observed).sum(1).clamp(max=bought)).all()
    scores = rollouts.scores(rows, state)
    chosen = rollouts.candidates(scores, state, bought)
    k = min(CANDIDATES, m - bought)
    assert chosen.shape == (n, k)
    assert all(len(set(row)) == k for row in chosen.tolist())
    open_, left = ~state.closed.gather(1, chosen), (~state.closed).sum(1)
    assert (open_.sum(1) == left.clamp(max=k)).all()
    best = scores.argmax(1, keepdim=True)
    assert ((chosen == best).any(1) | (left == 0)).all()


def test_nothing_is_bought_where_everything_is_closed():
    state = State(torch.zeros(2, 3), torch.tensor([[True, True, True], [True, False, True]]))
    state.buy(torch.tensor([[0], [1]]))
    assert state.mask.tolist() == [[0, 0, 0], [0, 1, 0]]
    assert state.closed.all()


def test_centred_values_have_the_mean_zero_where_they_count():
    values = torch.tensor([[1.0, 3.0, 99.0], [5.0, 5.0, 5.0]])
    counted = torch.tensor([[True, True, False], [False, False, False]])
    assert centred(values, counted).tolist() == [[-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


def test_it_finds_the_gate_that_tells_nothing_on_its_own():
    """Left first is the greedy choice; the gate and then the side it points to is the best."""
    selector = static_net([LEFT, RIGHT, GATE])
    history, scored = improved(selector)
    greedy = policy_scores(
        Gated(),
        LearnedSelector(static_net([LEFT, RIGHT, GATE])),
        gated_rows(500, seed=2),
        2,
        torch.zeros(3),
    )
    assert greedy.log_loss > 0.43
    assert scored.log_loss < 0.37  # (log 2 + 0.02) / 2 = 0.357
    assert [row["stage"] for row in history] == [3, 3, 3]


def test_a_stage_that_diverges_leaves_the_selector_as_it_was():
    selector = static_net([LEFT, RIGHT, GATE])
    before = copy.deepcopy(selector.state_dict())
    with pytest.warns(RuntimeWarning, match="set a rollout_lr below 1e"):
        history, _ = improved(selector, lr=1e30)
    assert history == []
    for key, value in selector.state_dict().items():
        assert torch.equal(value, before[key])


def test_a_price_on_the_gate_keeps_it_from_being_bought():
    selector = static_net([LEFT, RIGHT, GATE])
    _, scored = improved(selector, price=[1.0, -0.5, -0.5])
    assert scored.log_loss > 0.43


def test_a_policy_that_is_no_better_is_not_kept():
    selector = static_net([LEFT, RIGHT, GATE])
    before = copy.deepcopy(selector.state_dict())
    improved(selector, lr=1e-9)
    for key, value in selector.state_dict().items():
        assert torch.equal(value, before[key])


NOISE = np.tile([1.0, -1.0], 50)  # its mean has a standard error of 0.1


def scored(losses, taught=None):
    return PolicyScores(0.6, 0.0, 0.5, losses, taught)


def test_labels_alone_must_fall_by_more_than_the_standard_error():
    old = scored(np.full(100, 1.0))
    assert not clearly_less(old, old)
    assert not clearly_less(scored(0.95 + NOISE), old)
    assert clearly_less(scored(0.85 + NOISE), old)


@pytest.mark.parametrize(
    ("by_labels", "by_teachers", "kept"),
    [(0.95, 0.85, True), (1.05, 0.85, True), (1.15, 0.85, False), (0.5, 0.95, False)],
)
def test_teachers_decide_and_labels_have_a_veto(by_labels, by_teachers, kept):
    old = scored(np.full(100, 1.0), np.full(100, 1.0))
    assert clearly_less(scored(by_labels + NOISE, by_teachers + NOISE), old) == kept


def test_scores_of_a_policy_equal_a_walk_by_hand():
    """Left, right, gate: after one purchase half of the rows are undecided, and so on."""
    order, price = [LEFT, RIGHT, GATE], torch.tensor([0.5, 0.2, 0.1])
    taught = np.random.default_rng(4).dirichlet([1, 1], 60)
    rows = gated_rows(60, taught=taught)
    found = policy_scores(Gated(), LearnedSelector(static_net(order)), rows, 3, price)
    for target, losses in ((rows.target.numpy(), found.losses), (taught, found.taught)):
        late = np.zeros(60)
        for bought in (2, 3):
            mask = torch.zeros(60, 3)
            mask[:, order[:bought]] = 1.0
            p = Gated().proba(rows.x * mask, mask).numpy()
            late += -(target * np.log(p)).sum(1) + float(price[order[:bought]].sum())
        np.testing.assert_allclose(losses, late / 2, rtol=1e-5)
    assert found.paid == pytest.approx((0.2 + 0.3 + 0.8) / 3)


def test_a_table_of_one_feature_has_scores():
    columns = ColumnMap(np.arange(1), 1)
    x, target = np.ones((4, 1)), np.eye(2)[[0, 1, 0, 1]]
    rows = make_rows(x, np.ones((4, 1), bool), target, np.ones(4), columns)
    torch.manual_seed(0)
    selector = LearnedSelector(ScoreNet(n_columns=1, n_features=1, hidden=(4,)))

    class Even:
        def proba(self, x, mask):
            return torch.full((len(x), 2), 0.5)

    found = policy_scores(Even(), selector, rows, 10, torch.zeros(1))
    np.testing.assert_allclose(found.losses, math.log(2.0))
    assert found.log_loss == pytest.approx(math.log(2.0))


@pytest.mark.parametrize(
    ("n", "m", "steps", "held_out", "expected"),
    [
        (250, 3, 4, None, True),
        (100, 3, 4, None, False),  # too few rows to tell policies apart
        (250, 1, 4, None, False),  # nothing to choose from
        (250, 33, 4, None, False),  # dearer than the other stages
        (250, 3, 0, None, False),
        (250, 3, 4, np.eye(3, dtype=bool), False),  # the selector must not learn from them
    ],
)
def test_when_there_is_a_stage_3(n, m, steps, held_out, expected, monkeypatch):
    monkeypatch.setattr("hyperdfs.methods.hyper.FEWEST_FOR_ROLLOUTS", 20)
    X, y = numbers(n, m=m)
    names = tuple(f"x{j}" for j in range(m))
    state = fit_state(
        pd.DataFrame(X, columns=list(names)),
        y,
        np.ones(n),
        FeatureSpace(names, tuple((name,) for name in names), np.ones(m)),
        n_classes=2,
        method="hyperdfs",
        config=make_config("default", {**TINY, "rollout_steps": steps, "n_bins": 0}),
        members=2,
        max_budget=3,
        device=torch.device("cpu"),
        seed=0,
        progress=lambda *_: None,
        held_out=held_out,
    )
    assert (3 in {row["stage"] for row in state.model.history}) == expected
