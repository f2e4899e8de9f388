"""SEFA: encoders that keep to their feature, the score against autograd, the loss."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
import torch

from hyperdfs import DFSClassifier
from hyperdfs.masks import ColumnMap, MaskSampler
from hyperdfs.nn.sefa import FeatureEncoders, SefaNet, antithetic_noise, latent_draws
from hyperdfs.predictors.sefa import SefaPredictor
from hyperdfs.training.data import make_rows
from hyperdfs.training.sefa import SefaConfig, SefaStep, divergence
from method_contract import MethodContract

TINY = {
    "encoder_hidden": (4,),
    "predictor_hidden": (8,),
    "latent": 2,
    "train_draws": 3,
    "draws": 4,
    "epochs": 2,
}
GROUP = (0, 0, 0, 1, 2, 2)


class TestContract(MethodContract):
    method, tiny = "sefa", TINY
    able: ClassVar = {"epochs": 20}


def make_net(n_classes: int = 3, **kwargs: object) -> SefaNet:
    """A network with the running means of some training behind it."""
    torch.manual_seed(0)
    net = SefaNet(GROUP, 3, n_classes, encoder_hidden=(5, 4), predictor_hidden=(7, 6), **kwargs)  # type: ignore[arg-type]
    for _ in range(3):
        mu, sd = net.encoders(torch.randn(20, 6), torch.ones(20, 3))
        net.log_proba(net.draws(mu, sd, torch.randn(4, mu.shape[1])))
    return net.eval()


def test_each_encoder_sees_its_feature_alone() -> None:
    net = FeatureEncoders(GROUP, 3, hidden=(5,), latent=4).eval()
    x, mask = torch.randn(9, 6), torch.ones(9, 3)
    for feature in range(3):
        own = torch.tensor(GROUP) == feature
        changed, bits = x.clone(), mask.clone()
        changed[:, own] += 1.0
        bits[:, feature] = 0.0
        for other in (net(changed, mask), net(x, bits)):
            for before, after in zip(net(x, mask), other, strict=True):
                block = (before != after).any(0).view(3, 4).any(1)
                assert block.tolist() == [j == feature for j in range(3)]


def autograd_relevance(net: SefaNet, z: torch.Tensor) -> torch.Tensor:
    """The score by its definition, one draw, class and feature at a time."""
    z = z.clone().requires_grad_()
    proba = torch.softmax(net.predictor(z.flatten(0, 1)), -1).view(*z.shape[:2], -1)
    mean = proba.mean(0)
    score = torch.zeros(z.shape[1], net.n_features)
    for c in range(proba.shape[2]):
        (grad,) = torch.autograd.grad(mean[:, c].sum(), z, retain_graph=True)
        length = grad.view(*z.shape[:2], net.n_features, net.latent).norm(dim=-1)
        share = (length / length.sum(-1, keepdim=True)).nan_to_num(1.0 / net.n_features)  # flat
        score += mean[:, c : c + 1] * share.mean(0)
    return score.detach()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_score_is_that_of_the_definition(n_classes: int) -> None:
    net = make_net(n_classes)
    z = torch.randn(6, 5, 12)
    expected = autograd_relevance(net, z)
    with torch.inference_mode():
        score = net.relevance(z)
    assert torch.allclose(score, expected, atol=1e-5)
    assert torch.allclose(score.sum(1), torch.ones(5), atol=1e-5)


def test_prediction_is_the_mean_over_the_draws() -> None:
    net, x = make_net(), torch.randn(5, 6)
    mask = torch.ones(5, 3)
    mu, sd = net.encoders(x, mask)
    noise = antithetic_noise(8, 12)
    each = [torch.softmax(net.predictor(mu + sd * one), -1) for one in noise]
    proba = SefaPredictor(net, 8).proba(x, mask)
    assert torch.allclose(proba, torch.stack(each).mean(0), atol=1e-6)


def test_noise_is_antithetic_and_the_same_every_time() -> None:
    noise = antithetic_noise(50, 3)
    assert noise.shape == (50, 3)
    assert torch.allclose(noise.mean(0), torch.zeros(3), atol=1e-6)
    assert torch.equal(noise, antithetic_noise(50, 3))


def test_draws_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    net, x, mask = make_net(), torch.randn(7, 6), torch.ones(7, 3)
    whole = torch.cat(list(latent_draws(net, x, mask, 4)), 1)
    monkeypatch.setattr("hyperdfs.nn.sefa.CHUNK", 2 * 4 * 12)
    parts = list(latent_draws(net, x, mask, 4))
    assert len(parts) == 4
    assert torch.allclose(torch.cat(parts, 1), whole, atol=1e-6)


def test_divergence_equals_the_library_s() -> None:
    mu, sd = torch.randn(4, 6), torch.rand(4, 6) + 0.1
    normal = torch.distributions.Normal
    expected = torch.distributions.kl_divergence(normal(mu, sd), normal(0.0, 1.0)).sum(1)
    assert torch.allclose(divergence(mu, sd), expected, atol=1e-5)


def test_withheld_subsets_teach_nothing() -> None:
    generator = torch.Generator().manual_seed(0)
    observed = np.zeros((8, 3), bool)
    observed[:, 0] = True  # whatever is drawn, only {0} or {} is seen
    rows = make_rows(
        np.zeros((8, 6)), observed, np.eye(3)[[0] * 8], np.ones(8), ColumnMap(np.array(GROUP), 3)
    )

    def loss(held_out: list[list[int]] | None) -> float:
        config = SefaConfig(train_draws=2)
        withheld = None if held_out is None else np.array(held_out, bool)
        sampler = MaskSampler(3, generator, held_out=withheld)
        return SefaStep(make_net().train(), config, sampler, generator).loss(rows, 0).item()

    assert loss(None) > 0
    assert loss([[1, 0, 0], [0, 0, 0]]) == 0


def test_informative_above_noise_and_cheap_before_dear() -> None:
    X = np.random.default_rng(0).normal(size=(500, 5))
    X[:, 4] = X[:, 2] + 0.1 * X[:, 4]  # a twin of the informative one
    y = (X[:, 2] > 0).astype(int)
    config = {"encoder_hidden": (8,), "predictor_hidden": (16,), "epochs": 15, "n_bins": 0}
    first = []
    for cost in (1.0, 50.0):
        costs = [1.0, 1.0, cost, 1.0, 1.0]
        clf = DFSClassifier(method="sefa", max_budget=2, config=config, costs=costs).fit(X, y)
        first.append(clf.acquire(X).order[:, 0])
        scores = clf._state.model.selector.scores(torch.zeros(1, 5), torch.zeros(1, 5))[0]
        assert scores[[2, 4]].max() > scores[[0, 1, 3]].max() + 0.5
    assert np.isin(first[0], [2, 4]).all()
    assert (first[1] == 4).all()
    assert clf.acquisition_curve(X, y, budgets=[1], metric="accuracy").iloc[0] > 0.9


def test_many_features() -> None:
    X = np.random.default_rng(0).normal(size=(60, 689))
    clf = DFSClassifier(method="sefa", max_budget=3, config={**TINY, "epochs": 1})
    assert clf.fit(X, X[:, 0] > 0).acquire(X[:3]).order.shape == (3, 3)
