"""A whole step of stage 2 equals the textbook: losses and every gradient."""

from __future__ import annotations

import pytest
import textbook
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from textbook_checks import (
    DOUBLE,
    SINGLE,
    assert_same_gradients,
    in_many_small_parts,
    random_masks,
    tokens_in_torch,
)

from hyperdfs.masks import ColumnMap
from hyperdfs.nn.hyper import HyperNet
from hyperdfs.nn.products import RowProduct
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.training import losses
from hyperdfs.training.purchases import gumbel_noise, gumbel_purchases


def make_net(*, m, d, members=1, encoder="set_transformer", primary=(5,), dtype=torch.float64):
    return HyperNet(
        n_columns=d,
        n_features=m,
        n_classes=3,
        members=members,
        encoder=encoder,
        token_dim=8,
        condition_dim=6,
        hyper_width=9,
        primary=primary,
    ).to(dtype)


class PlainColumns(ColumnMap):
    """Features to columns by plain indexing, in any precision."""

    def __init__(self, group, n_features):
        super().__init__(group.numpy(), n_features)
        self.group = group

    def expand(self, mask):
        return mask[..., self.group]


def check_step(*, encoder, members, m, d, missing, primary=(5,), n=12, dtype=torch.float64):
    """A stage-2 loss: trajectory, cross-entropy, collapse, scale, replay; all gradients."""
    torch.manual_seed(m * 7 + d)
    tolerance = DOUBLE if dtype == torch.float64 else SINGLE
    columns = PlainColumns(torch.arange(d) % m, m)
    net = make_net(m=m, d=d, members=members, encoder=encoder, primary=primary, dtype=dtype)
    for layer in net.layers():  # head biases and generated biases away from 0
        torch.nn.init.normal_(layer.table, std=0.3)
    selector = ScoreNet(n_columns=d, n_features=m, hidden=(11, 7)).to(dtype)
    books = [textbook.hypernet_like(net, e) for e in range(members)]
    book_selector = textbook.scores_like(selector)

    available = torch.ones(n, m, dtype=dtype)
    if missing:
        available = (torch.rand(n, m) < 0.7).to(dtype)
        available[0] = 0.0  # a row of which nothing can be had
    x = torch.randn(n, d, dtype=dtype) * columns.expand(available)
    target = torch.softmax(torch.randn(n, 3, dtype=dtype), -1)
    weight = torch.rand(n, dtype=dtype) + 0.5
    lengths = torch.randint(1, min(m, 5) + 1, (n,)).sort(descending=True).values
    shake = 0.2 * torch.randn(members, n, net.condition_dim, dtype=dtype)

    generator = torch.Generator().manual_seed(1)
    mask = gumbel_purchases(
        selector, x, available, columns, lengths, temperature=0.7, generator=generator
    )
    z = net.encoder(mask.unsqueeze(0))
    clean = textbook.unit(z)
    code = net.code(textbook.unit(z + shake))
    logits = net.classify_rows((x * columns.expand(mask)).unsqueeze(0), code)
    out = losses.Output(logits, clean, code)
    loss = losses.cross_entropy(logits, target, weight)
    loss = loss + 0.5 * losses.collapse_loss(net, out) + 0.3 * losses.scale_loss(net, code)
    groups = random_masks(4, m, dtype)
    grouped = net.grouped(
        (x.view(4, n // 4, d) * columns.expand(groups).unsqueeze(1)).unsqueeze(0),
        groups.unsqueeze(0),
    )
    loss = loss + losses.cross_entropy(
        grouped.logits, target.view(4, n // 4, 3), weight.view(4, n // 4)
    )
    loss.sum().backward()

    generator.manual_seed(1)

    def gumbel():
        for step in range(int(lengths[0])):
            active = int((lengths > step).sum())
            drawn = gumbel_noise((active, m), generator, dtype=dtype)
            yield torch.cat([drawn, torch.zeros(n - active, m, dtype=dtype)])

    book_mask = textbook.purchases(
        book_selector, x, available, columns.expand, lengths, gumbel(), temperature=0.7
    )
    torch.testing.assert_close(mask, book_mask, **tolerance)
    total = 0.0
    for e, book in enumerate(books):
        result = book(x * columns.expand(book_mask), book_mask, shake[e])
        torch.testing.assert_close(logits[e], result.logits, **tolerance)
        expected = textbook.cross_entropy(result.logits, target, weight)
        expected = expected + 0.5 * textbook.collapse_loss(result)
        expected = expected + 0.3 * textbook.scale_loss(result)
        replay = book(x.view(4, n // 4, d) * columns.expand(groups).unsqueeze(1), groups)
        expected = expected + textbook.cross_entropy(
            replay.logits, target.view(4, n // 4, 3), weight.view(4, n // 4)
        )
        torch.testing.assert_close(loss[e], expected, **tolerance)
        total = total + expected
    total.backward()
    assert_same_gradients(net, books, tolerance)
    if encoder == "set_transformer":
        for ours, theirs in zip(
            [*selector.hidden, selector.head], book_selector.linear, strict=True
        ):
            torch.testing.assert_close(ours.weight.grad, theirs.weight.grad, **tolerance)
            torch.testing.assert_close(ours.bias.grad, theirs.bias.grad, **tolerance)


@pytest.mark.parametrize("encoder", ["set_transformer", "inducing_pool", "deep_sets"])
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize(("m", "d"), [(1, 1), (2, 2), (7, 12), (30, 30)])
@pytest.mark.parametrize("missing", [False, True])
def test_joint_step(encoder, members, m, d, missing):
    check_step(encoder=encoder, members=members, m=m, d=d, missing=missing)


@pytest.mark.parametrize("primary", [(), (6, 4), (20,)])
def test_joint_step_of_other_depths(primary):
    check_step(encoder="set_transformer", members=2, m=5, d=5, missing=False, primary=primary)


@pytest.mark.parametrize("kept", [True, False])
def test_joint_step_in_many_small_parts(kept, monkeypatch):
    in_many_small_parts(monkeypatch, kept=kept)
    with tokens_in_torch():
        check_step(encoder="set_transformer", members=2, m=9, d=9, missing=True)


def test_joint_step_in_single_precision():
    check_step(encoder="set_transformer", members=1, m=30, d=40, missing=True, dtype=torch.float32)


@settings(max_examples=15, deadline=None)
@given(
    encoder=st.sampled_from(["set_transformer", "inducing_pool"]),
    members=st.integers(1, 2),
    m=st.integers(1, 25),
    more=st.integers(0, 10),
    missing=st.booleans(),
)
def test_joint_step_of_any_size(encoder, members, m, more, missing):
    check_step(encoder=encoder, members=members, m=m, d=m + more, missing=missing)


@pytest.mark.parametrize(("members", "own_x"), [(1, False), (3, False), (3, True)])
@pytest.mark.parametrize("pattern", ["none", "sparse", "few columns", "one for all", "dense"])
def test_row_product_at_any_sparsity(pattern: str, members: int, own_x: bool) -> None:
    torch.manual_seed(0)
    n, n_in, width, n_out = 24, 30, 5, 4
    keep = torch.rand(1, n, n_in) < {"none": 0.0, "dense": 0.9}.get(pattern, 0.1)
    if pattern == "few columns":
        keep[..., 4:] = False
    if pattern == "one for all":
        keep[..., 7] = True
    x = torch.randn(members if own_x else 1, n, n_in).double() * keep
    x[0, 3:6] = 0.0  # known to other members
    x.requires_grad_()
    code = torch.randn(members, n, width).double().requires_grad_()
    table = torch.randn(members, n_in, width, n_out).double().requires_grad_()
    inputs, weight = (x, code, table), torch.randn(members, n, n_out).double()
    fast = RowProduct.apply(*inputs)
    book = torch.einsum("eni,enh,eiho->eno", x.expand(members, -1, -1), code, table)
    torch.testing.assert_close(fast, book)
    for ours, theirs in zip(
        torch.autograd.grad((fast * weight).sum(), inputs),
        torch.autograd.grad((book * weight).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)
