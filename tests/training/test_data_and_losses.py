"""Rows, batches, the validation split, and the losses against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.lessons import FEWEST_FOR_SPLIT, split_rows
from hyperdfs.masks import ColumnMap
from hyperdfs.nn.hyper import HyperNet
from hyperdfs.training.data import make_rows, shuffled_batches
from hyperdfs.training.losses import collapse_loss, cross_entropy, scale_loss


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 300),
    size=st.integers(1, 100),
    multiple=st.integers(1, 16),
    seed=st.integers(0, 99),
)
def test_batches_cover_every_row_in_equal_groups(n, size, multiple, seed):
    multiple = min(multiple, n)
    batches = list(
        shuffled_batches(n, size, multiple=multiple, generator=torch.Generator().manual_seed(seed))
    )
    assert set(torch.cat(batches).tolist()) == set(range(n))
    assert all(len(batch) % multiple == 0 for batch in batches)
    assert sum(map(len, batches)) < n + multiple
    assert max(map(len, batches)) <= max(2 * size, size + 1) + multiple


def test_every_pass_covers_every_row_in_an_order_of_its_own():
    generator = torch.Generator().manual_seed(0)
    batches = list(shuffled_batches(40, 10, passes=3, generator=generator))
    assert len(batches) == 12
    orders = torch.cat(batches).view(3, 40)
    assert torch.equal(orders.sort(1).values, torch.arange(40).expand(3, 40))
    assert not torch.equal(orders[0], orders[1])


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(1, 60), min_size=2, max_size=12),
    fraction=st.floats(0.02, 0.49),
    seed=st.integers(0, 99),
)
def test_the_validation_split(counts, fraction, seed):
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    train, valid = split_rows(labels, fraction, seed)
    everything = np.arange(len(labels))
    if np.array_equal(train, everything):
        np.testing.assert_array_equal(valid, everything)
        return
    assert len(labels) >= FEWEST_FOR_SPLIT
    np.testing.assert_array_equal(np.sort(np.r_[train, valid]), everything)
    assert set(labels[train]) == set(labels)
    assert len(valid) < len(train)
    again = split_rows(labels, fraction, seed)
    np.testing.assert_array_equal(again[1], valid)


def test_the_split_is_stratified():
    labels = np.repeat([0, 1], [900, 100])
    _, valid = split_rows(labels, 0.1, 0)
    assert np.bincount(labels[valid]).tolist() == [90, 10]


def test_rows_from_arrays():
    values, observed = np.ones((4, 3)), np.ones((4, 2), bool)
    columns = ColumnMap(np.array([0, 0, 1]), 2)
    rows = make_rows(values, observed, np.eye(2)[[0, 1, 0, 1]], np.array([1, 1, 2, 4.0]), columns)
    assert rows.observed is None
    assert rows.weight.mean() == pytest.approx(1.0)
    assert rows.available().tolist() == [[1, 1]] * 4
    observed[2, 1] = False
    some = make_rows(values, observed, np.eye(2)[[0, 1, 0, 1]], np.ones(4), columns)
    part = some.take(torch.tensor([2, 0]))
    assert part.available().tolist() == [[1, 0], [1, 1]]
    assert part.target.tolist() == [[1, 0], [1, 0]]


def test_cross_entropy_is_torchs():
    torch.manual_seed(0)
    logits, target = torch.randn(2, 7, 3), torch.softmax(torch.randn(7, 3), -1)
    weight = torch.rand(7)
    ours = cross_entropy(logits, target, weight)
    for member in range(2):
        each = torch.nn.functional.cross_entropy(logits[member], target, reduction="none")
        assert ours[member].item() == pytest.approx(float((each * weight).mean()), rel=1e-5)


@pytest.fixture
def generated():
    """A network with one pass over 6 masks, and the weights it generated, layer by layer."""
    torch.manual_seed(0)
    net = HyperNet(
        n_columns=5, n_features=5, n_classes=3, members=2, token_dim=8, condition_dim=4,
        hyper_width=6, primary=(7,),
    )  # fmt: skip
    masks = (torch.rand(1, 6, 5) < 0.5).float()
    out = net(torch.randn(1, 6, 5) * masks, masks)
    theta = []
    for layer in net.layers():
        weight, bias = layer.generate(out.code)
        theta.append(torch.cat([weight.flatten(2), bias.flatten(2)], 2))
    return net, out, theta


def test_the_scale_loss_without_its_shortcut(generated):
    net, out, theta = generated
    expected = sum(
        (t.square().mean(2) - 1 / layer.n_in).square().mean(1)
        for t, layer in zip(theta, net.layers(), strict=True)
    )
    torch.testing.assert_close(scale_loss(net, out.code), expected)


def test_the_collapse_loss_without_its_shortcut(generated):
    net, out, theta = generated
    spread = out.condition.var(1, unbiased=False).mean(-1)
    variance = torch.cat(theta, 2).var(1, unbiased=False).mean(-1)
    torch.testing.assert_close(collapse_loss(net, out), -spread - variance)


def test_the_collapse_loss_is_bounded(generated):
    net, _, _ = generated
    with torch.no_grad():
        for layer in net.layers():
            layer.table.mul_(1e3)
    masks = (torch.rand(1, 6, 5) < 0.5).float()
    loss = collapse_loss(net, net(torch.zeros(1, 6, 5), masks))
    assert (loss > -30).all()
