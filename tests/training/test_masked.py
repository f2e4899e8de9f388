"""The common loop of plain networks: random subsets, best weights, seeds, schedules."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from hyperdfs.errors import HyperDFSError
from hyperdfs.masks import ColumnMap, MaskSampler, cardinality_uniform, rate_uniform, sizes_up_to
from hyperdfs.nn.mlp import MLP, MaskedNet, evaluating
from hyperdfs.predictors.mlp import MLPPredictor
from hyperdfs.selectors.mlp import MLPSelector
from hyperdfs.training.data import Rows, make_rows
from hyperdfs.training.masked import (
    Recipe,
    _Rate,
    fit_masked,
    fit_masked_classifier,
    observe,
    subset_loss,
)

GROUP = np.array([0, 0, 1, 2])


def silent(*_: object) -> None:
    pass


def rows(n: int = 60, seed: int = 0, *, missing: float = 0.0) -> Rows:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, len(GROUP)))
    labels = (values[:, 2] > 0).astype(int)
    observed = rng.random((n, 3)) >= missing
    values *= observed[:, GROUP]
    return make_rows(values, observed, np.eye(2)[labels], np.ones(n), ColumnMap(GROUP, 3))


def make_net(**kwargs: object) -> MaskedNet:
    torch.manual_seed(0)
    return MaskedNet(n_columns=4, n_features=3, n_out=2, hidden=(16,), **kwargs)  # type: ignore[arg-type]


@pytest.mark.parametrize("draw", [rate_uniform, sizes_up_to(4), sizes_up_to(99)])
def test_sizes_of_the_drawn_subsets(draw: object) -> None:
    masks = draw(40_000, 8, torch.Generator().manual_seed(0))  # type: ignore[operator]
    shares = torch.bincount(masks.sum(1).long(), minlength=9) / len(masks)
    expected = torch.full((9,), 1 / 9)
    if draw is not rate_uniform and shares[0] > 0.13:  # up to 4, half of the time
        expected = 0.5 * expected + 0.5 * torch.tensor([0.2] * 5 + [0.0] * 4)
    assert torch.allclose(shares, expected, atol=0.01)
    assert torch.allclose(masks.mean(0), masks.mean().expand(8), atol=0.02)


@pytest.mark.parametrize("draw", [cardinality_uniform, rate_uniform, sizes_up_to(1)])
def test_withheld_subsets_are_never_drawn(draw: object) -> None:
    held_out = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], bool)
    generator = torch.Generator().manual_seed(0)
    sampler = MaskSampler(3, generator, held_out=held_out, draw=draw)  # type: ignore[arg-type]
    assert not (sampler.sample(500).sum(1) == 1).any()


def test_observe_hides_columns_and_missing_cells() -> None:
    data = rows(missing=0.4)
    assert data.observed is not None
    known = observe(data, torch.tensor([1.0, 0.0, 1.0]).expand(len(data), -1))
    assert (known.x[:, 2] == 0).all()
    assert torch.equal(known.mask[:, 0], data.observed[:, 0])
    assert torch.equal(known.x[:, :2], data.x[:, :2])


def test_rows_on_a_withheld_subset_weigh_nothing() -> None:
    held_out = np.array([[0, 1, 0]], bool)
    sampler = MaskSampler(3, torch.Generator().manual_seed(0), held_out=held_out)
    data = rows(missing=0.4)
    known = observe(data, torch.ones(len(data), 3), sampler)
    withheld = (known.mask == torch.tensor([0.0, 1.0, 0.0])).all(1)
    assert withheld.any()
    assert torch.equal(known.weight == 0, withheld)


def test_loss_is_the_weighted_mean_cross_entropy() -> None:
    data, net = rows(8), make_net()
    data = Rows(data.x, None, data.target, torch.rand(8), data.columns)
    masks = torch.ones(8, 3)
    each = torch.nn.functional.cross_entropy(net(data.x, masks), data.target, reduction="none")
    assert torch.allclose(subset_loss(net, data, masks), (each * data.weight).mean())


@pytest.mark.parametrize("options", [{}, {"dropout": 0.3}, {"norm": "layer"}, {"norm": "batch"}])
def test_classifier_learns_and_leaves_the_global_generator_alone(options: dict) -> None:
    train, valid = rows(301, 1, missing=0.1), rows(100, 2)
    results = []
    for noise in (0, 1):
        net = make_net(**options)
        torch.manual_seed(noise)
        before = torch.get_rng_state()
        generator = torch.Generator().manual_seed(5)
        sampler = MaskSampler(3, generator, draw=rate_uniform)
        history = fit_masked_classifier(
            net,
            train,
            valid,
            sampler,
            Recipe(epochs=25, lr=1e-2),
            generator=generator,
            progress=silent,
        )
        assert torch.equal(torch.get_rng_state(), before)
        assert not net.training
        assert min(row["valid_loss"] for row in history) < 0.6
        proba = MLPPredictor(net).proba(valid.x, torch.ones(len(valid), 3))
        assert (proba.argmax(1) == valid.target.argmax(1)).float().mean() > 0.85
        results.append(proba)
    assert torch.equal(*results)


def test_best_epoch_is_kept_and_patience_ends_the_stage() -> None:
    net, data = make_net(), rows(20)
    scores = iter([3.0, 1.0, 2.0, 2.0, 2.0, 2.0])
    weights = []

    def validate() -> float:
        assert not net.training
        assert not torch.is_grad_enabled()
        weights.append(net.head.weight.detach().clone())
        return next(scores)

    def loss(batch: Rows, epoch: int) -> Tensor:
        assert net.training
        return subset_loss(net, batch, torch.ones(len(batch), 3))

    history = fit_masked(
        net,
        data,
        loss,
        validate,
        Recipe(epochs=9, patience=3),
        stage="any",
        generator=torch.Generator(),
        progress=silent,
    )
    assert [row["valid_loss"] for row in history] == [3.0, 1.0, 2.0, 2.0, 2.0]
    assert torch.equal(net.head.weight, weights[1])


def test_schedules() -> None:
    rate = _Rate(Recipe(lr=1.0, schedule="plateau", plateau_patience=1, min_lr=0.1))
    seen = []
    for epoch, score in enumerate([5.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0]):
        seen.append(rate.value(epoch))
        rate.note(score)
    assert seen == pytest.approx([1.0, 1.0, 1.0, 1.0, 0.2, 0.2, 0.1])
    cosine = _Rate(Recipe(lr=1.0, schedule="cosine", epochs=10))
    values = [cosine.value(epoch) for epoch in range(10)]
    assert values[0] == 1.0
    assert values == sorted(values, reverse=True)


def test_a_loss_that_is_not_finite_is_said_clearly() -> None:
    net = make_net()
    with pytest.raises(HyperDFSError, match="The loss must stay finite"):
        fit_masked(
            net,
            rows(20),
            lambda batch, epoch: net.head.bias.sum() * math.nan,
            lambda: 0.0,
            Recipe(),
            stage="any",
            generator=torch.Generator(),
            progress=silent,
        )


def test_ensemble_is_the_mean_and_batches_do_not_matter() -> None:
    data = rows(50)
    nets = [make_net(dropout=0.5), make_net(norm="batch")]
    masks = rate_uniform(50, 3, torch.Generator().manual_seed(0))
    x = data.x * data.columns.expand(masks)
    each = [MLPPredictor(net).proba(x, masks) for net in nets]
    both = MLPPredictor(*nets).proba(x, masks)
    assert torch.allclose(both, (each[0] + each[1]) / 2)
    assert torch.allclose(MLPPredictor(*nets).proba(x[7:8], masks[7:8]), both[7:8], atol=1e-6)
    assert all(net.training for net in nets)  # as it was
    scores = MLPSelector(nets[0]).scores(x, masks)
    assert torch.equal(scores, MLPSelector(nets[0]).scores(x, masks))  # no dropout


def test_body_can_be_shared_and_modes_come_back() -> None:
    net = MLP(4, 2, hidden=(8, 6), dropout=0.5, norm="layer")
    with evaluating(net):
        hidden = net.body(torch.ones(3, 4))
        assert hidden.shape == (3, 6)
        assert torch.equal(net.head(hidden), net(torch.ones(3, 4)))
    assert net.training
