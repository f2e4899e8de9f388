"""EDDI: the reward is an information gain, and the method keeps the rules of every method."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

from hyperdfs import DFSClassifier
from hyperdfs.masks import ColumnMap
from hyperdfs.methods.base import Shape
from hyperdfs.methods.eddi import EDDIConfig, build
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.eddi import Normal, PartialVAE, kl
from hyperdfs.selectors.eddi import SCREEN, information_reward
from hyperdfs.training.data import make_rows
from hyperdfs.training.eddi import occurring_values
from method_contract import MethodContract
from small_tables import numbers

TINY = {"epochs": 4, "encoder_hidden": (16,), "decoder_hidden": (16,), "width": 8, "samples": 6}


class TestContract(MethodContract):
    method, tiny = "eddi", TINY
    able: ClassVar = {"epochs": 60}


def test_kl_is_in_units_of_the_variance() -> None:
    p = Normal(torch.tensor([1.0, -2.0]), torch.tensor([0.3, -1.0]))
    q = Normal(torch.tensor([0.5, 1.0]), torch.tensor([1.4, 0.2]))
    wanted = torch.distributions.kl_divergence(
        torch.distributions.Normal(p.mean, (0.5 * p.log_var).exp()),
        torch.distributions.Normal(q.mean, (0.5 * q.log_var).exp()),
    ).sum()
    torch.testing.assert_close(kl(p, q), wanted)


def test_reward_is_the_information_gain_of_a_linear_gaussian_model() -> None:
    """z ~ N(0, 1), x_j = w_j z + N(0, s²), y = v z + N(0, t²): everything is known in closed form.

    The posterior of z is normal with precision 1 + Σ w²/s², so contributions (w x/s², w²/s²) add
    up as those of the set encoder do, and the reward must be I(x_i ; y | x_S).
    """
    w, s, v, t = torch.tensor([0.0, 0.5, 1.0, 2.0]), 0.7, 1.5, 0.6
    generator = torch.Generator().manual_seed(0)
    samples = 200_000

    def encode(total: Tensor) -> Normal:
        precision = 1.0 + total[..., 1:]
        return Normal(total[..., :1] / precision, -precision.log())

    seen = torch.tensor([0.8 * 1.1 / s**2, 0.8**2 / s**2])  # one feature with w = 0.8 read 1.1
    precision = 1.0 + float(seen[1])
    z = seen[0] / precision + torch.randn(samples, generator=generator) / math.sqrt(precision)
    x = w * z[:, None] + s * torch.randn(samples, 4, generator=generator)
    y = v * z + t * torch.randn(samples, generator=generator)
    bought = torch.stack([w * x / s**2, (w**2 / s**2).expand_as(x)], -1)
    label = torch.stack([v * y / t**2, torch.full_like(y, v**2 / t**2)], -1)
    reward = information_reward(encode, seen[None], bought[None], label[None])[0]

    after_y = precision + v**2 / t**2
    gain = 0.5 * torch.log((precision + w**2 / s**2) / precision)
    rest = 0.5 * torch.log((after_y + w**2 / s**2) / after_y)
    torch.testing.assert_close(reward, gain - rest, atol=0.01, rtol=0.02)
    assert reward[0] == 0.0  # a feature that says nothing about z


def test_contributions_of_a_feature_add_over_its_columns() -> None:
    vae = PartialVAE(
        column_group=[0, 1, 1, 2],
        n_features=3,
        n_classes=2,
        width=5,
        latent=2,
        encoder_hidden=(4,),
        decoder_hidden=(4,),
    )
    x = torch.randn(6, 4)
    weight, parts = vae.element.weight, vae.elements(x)
    for row in range(6):
        for feature, columns in enumerate([[0], [1, 2], [3]]):
            total = weight[:, -1] * vae.feature_bias[feature] + vae.element.bias
            for c in columns:
                described = torch.cat([torch.ones(1), vae.column_embedding[c]])
                total = total + x[row, c] * (weight[:, :-1] @ described)
            torch.testing.assert_close(parts[row, feature], total.relu())
    mean = vae.per_feature(x)
    torch.testing.assert_close(mean[:, 1], x[:, 1:3].mean(1))


def test_purchases_are_imagined_with_values_that_occur() -> None:
    rng = np.random.default_rng(0)
    category = np.eye(3)[rng.integers(0, 3, 200)]
    values = np.column_stack([rng.normal(size=200), category, rng.integers(0, 2, 200)])
    groups = np.array([0, 1, 1, 1, 2])
    rows = make_rows(
        values,
        np.ones((200, 3), bool),
        np.eye(2)[rng.integers(0, 2, 200)],
        np.ones(200),
        ColumnMap(groups, 3),
    )
    found, distinct = occurring_values(rows, groups, 8, torch.Generator().manual_seed(0))
    assert distinct.sum(0).tolist()[1:] == [3, 2]
    cells = {tuple(row) for row in rows.x[:, 1:4].tolist()}
    assert {tuple(row) for row in found[:, 1:4].tolist()} == cells
    assert set(found[:, 0].tolist()) <= set(rows.x[:, 0].tolist())


def test_finds_the_informative_feature() -> None:
    X, y = numbers(n=400, m=6)
    config = {"epochs": 25, "samples": 20}
    model = DFSClassifier("eddi", max_budget=3, config=config).fit(X, y)
    bought = model.acquire(X[:50], 2)
    assert (bought.order[:, 0] == 0).all()
    assert (bought.proba[:, 1].argmax(1) == y[:50]).mean() > 0.9


def test_wide_tables_are_screened(monkeypatch: pytest.MonkeyPatch) -> None:
    m = SCREEN + 30
    config = EDDIConfig(**TINY)
    torch.manual_seed(0)
    model = build(Shape(tuple(range(m)), m, 2), config, 1)
    fitted = model.modules["fitted"]
    assert isinstance(fitted, Arrays)
    fitted.set("values", torch.randn(4, m))
    fitted.set("distinct", torch.ones(4, m))
    fitted.set("relative", torch.ones(m))
    x, mask = torch.randn(5, m), (torch.rand(5, m) < 0.1).float()
    scores = model.selector.scores(x * mask, mask)
    assert scores.isfinite().all()
    every = build(Shape(tuple(range(m)), m, 2), config, 1)  # the same model without a screen
    every.modules["vae"].load_state_dict(model.modules["vae"].state_dict())
    every.modules["fitted"].load_state_dict(fitted.state_dict())
    monkeypatch.setattr("hyperdfs.selectors.eddi.SCREEN", m)
    full = every.selector.scores(x * mask, mask)
    close = scores.masked_fill(mask > 0, -torch.inf).topk(SCREEN, 1).indices
    torch.testing.assert_close(scores.gather(1, close), full.gather(1, close))


def test_a_latent_that_says_nothing_is_trained_again_at_a_lower_price() -> None:
    X, y = numbers(n=200, m=4)

    def stages(**config: float) -> list[str]:
        clf = DFSClassifier("eddi", max_budget=2, config={"epochs": 25, "samples": 6, **config})
        return list(dict.fromkeys(str(row["stage"]) for row in clf.fit(X, y).history_))

    # With this noise nothing that a feature or the label could say is worth its KL.
    assert stages(sd=50.0, y_weight=1e-3) == [
        "autoencoder",
        "free autoencoder",
        "autoencoder again",
    ]
    assert stages() == ["autoencoder"]
