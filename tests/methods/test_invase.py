"""INVASE: what the actor learns, the sequential form, and the original that peeks."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import torch

from hyperdfs import DFSClassifier
from hyperdfs.masks import ColumnMap, MaskSampler, rate_uniform
from hyperdfs.methods import get_method
from hyperdfs.training.data import Rows, make_rows
from hyperdfs.training.invase import InvaseConfig, InvaseNets, InvaseStep, log_likelihood
from method_contract import MethodContract

TINY = {"actor_hidden": (8,), "critic_hidden": (8,), "epochs": 2}
SMALL = {"actor_hidden": (32,), "critic_hidden": (32,), "epochs": 40, "n_bins": 0}


class TestInvase(MethodContract):
    method, tiny = "invase", TINY


class TestOracle(MethodContract):
    method, tiny = "invase_oracle", TINY

    def test_what_is_not_bought_does_not_matter(
        self, clf: DFSClassifier, table: pd.DataFrame
    ) -> None:
        """Predictions still do not peek; the choice does, and says so."""
        assert clf._state.model.selector.peeks  # type: ignore[attr-defined]
        assert not get_method("invase_oracle").ranked
        bought = clf.acquire(table, budget=3)
        x, _ = clf._state.preprocessor.transform(table, impute=True)
        pi = clf._state.model.selector.scores(torch.as_tensor(x).float(), torch.zeros(40, 5))
        np.testing.assert_array_equal(bought.order, pi.argsort(1, descending=True)[:, :3])


def informative(n: int = 500, m: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features 2 and 5 make the label; the rest is noise."""
    X = np.random.default_rng(seed).normal(size=(n, m))
    return X, (X[:, 2] + X[:, 5] > 0).astype(int)


@pytest.mark.parametrize("method", ["invase", "invase_oracle"])
def test_actor_raises_pi_of_informative_features(method: str) -> None:
    X, y = informative()
    config = {**SMALL, "selection_weight": 1.0}
    clf = DFSClassifier(method=method, max_budget=4, config=config).fit(X, y)
    selector = clf._state.model.selector
    x, _ = clf._state.preprocessor.transform(pd.DataFrame(X).add_prefix("x"), impute=True)
    known = torch.as_tensor(x).float() * (1.0 if method == "invase_oracle" else 0.0)
    pi = torch.sigmoid(selector.scores(known, torch.zeros(len(x), 8))).mean(0)
    noise = [0, 1, 3, 4, 6, 7]
    assert pi[[2, 5]].min() > pi[noise].max() + 0.2
    order = clf.acquire(X).order[:, :2]
    assert np.isin(order, [2, 5]).mean() > 0.9


def test_prediction_at_every_budget() -> None:
    X, y = informative()
    clf = DFSClassifier(method="invase", max_budget=3, config=SMALL).fit(X, y)
    test, truth = informative(seed=1)
    curve = clf.acquisition_curve(test, truth, budgets=(1, 2, 3), metric="accuracy")
    assert curve[1] > 0.65
    assert curve[2] > 0.85


def one_batch(missing: float = 0.0) -> Rows:
    rng = np.random.default_rng(0)
    observed = rng.random((16, 3)) >= missing
    target = np.eye(2)[rng.integers(0, 2, 16)]
    values = rng.normal(size=(16, 3)) * observed
    return make_rows(values, observed, target, np.ones(16), ColumnMap(np.arange(3), 3))


def step(
    config: InvaseConfig, *, held_out: np.ndarray | None = None, peeks: bool = False
) -> InvaseStep:
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    nets = InvaseNets(n_columns=3, n_features=3, n_classes=2, config=config, peeks=peeks)
    sampler = MaskSampler(3, generator, held_out=held_out, draw=rate_uniform)
    return InvaseStep(nets, config, sampler, torch.zeros(3), generator, peeks)


def test_log_likelihood_is_that_of_bernoulli_draws() -> None:
    logits = torch.tensor([[0.0, math.log(3.0)]])  # π = 1/2 and 3/4
    value = log_likelihood(logits, torch.tensor([[1.0, 0.0]]))
    assert torch.allclose(value, torch.log(torch.tensor([[0.5, 0.25]])))


def test_a_larger_weight_of_the_size_lowers_pi() -> None:
    """The gradient of λ mean π alone: λ π (1 - π) / M per logit, beside the same draws."""
    grads = []
    for weight in (0.0, 6.0):
        one = step(InvaseConfig(selection_weight=weight, actor_hidden=(4,)))
        one.loss(one_batch(), 0).backward()
        grad = one.nets.actor.head.bias.grad
        assert grad is not None
        grads.append(grad)
    assert (grads[1] > grads[0]).all()


@pytest.mark.parametrize("peeks", [False, True])
def test_losses_do_not_mix(peeks: bool) -> None:
    """Neither the critic nor the baseline is trained by the actor's reward."""
    one = step(InvaseConfig(actor_hidden=(4,), critic_hidden=(4,), replay=False), peeks=peeks)
    for parameter in one.nets.actor.parameters():
        parameter.requires_grad_(False)
    rows = one_batch()
    one.loss(rows, 0).backward()
    baseline = one.nets.baseline
    got = baseline.head.bias.grad
    assert got is not None
    logits = baseline(rows.x, torch.ones(16, 3))
    expected = (torch.softmax(logits, -1) - rows.target).mean(0)
    assert torch.allclose(got, expected, atol=1e-6)


def test_withheld_subsets_teach_nothing() -> None:
    """With all subsets of two or three withheld, whoever ends up there weighs nothing."""
    held_out = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], bool)
    one = step(InvaseConfig(actor_hidden=(4,), replay=False), held_out=held_out)
    with torch.no_grad():
        one.nets.actor.head.bias.fill_(50.0)  # π = 1: all that is free is chosen
    assert one.loss(one_batch(), 0).item() == 0.0


def test_missing_cells_are_never_chosen() -> None:
    rows = one_batch(missing=0.5)
    assert rows.observed is not None
    one = step(InvaseConfig(actor_hidden=(4,)))
    seen: list[torch.Tensor] = []
    one.nets.critic.register_forward_hook(lambda net, inputs, out: seen.append(inputs[1]))
    one.loss(rows, 0)
    assert all((mask <= rows.observed).all() for mask in seen)


def test_many_features() -> None:
    X, y = informative(60, 689)
    clf = DFSClassifier(method="invase", max_budget=5, config={**TINY, "epochs": 1}).fit(X, y)
    assert clf.acquire(X[:3]).order.shape == (3, 5)
