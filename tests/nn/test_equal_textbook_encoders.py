"""The fast encoders equal the textbook: values and every gradient."""

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

from hyperdfs.nn.encoders import make_encoder


def check_encoder(kind, *, members, layers, m, n, dtype=torch.float64, own_masks=False, dim=8):
    torch.manual_seed(m + 7 * members + 31 * layers + n)
    tolerance = DOUBLE if dtype == torch.float64 else SINGLE
    fast, _ = make_encoder(kind, members, m, dim=dim, out_dim=6, layers=layers)
    fast = fast.to(dtype)
    books = [textbook.encoder_like(fast, e) for e in range(members)]
    mask = torch.stack([random_masks(n, m, dtype) for _ in range(members if own_masks else 1)])
    direction = torch.randn(members, n, 6, dtype=dtype)
    fast_mask = mask.clone().requires_grad_()
    z = fast(fast_mask)
    (z * direction).sum().backward()
    total = torch.zeros_like(mask)
    for e, book in enumerate(books):
        book_mask = mask[e if own_masks else 0].clone().requires_grad_()
        expected = book(book_mask)
        torch.testing.assert_close(z[e], expected, **tolerance)
        (expected * direction[e]).sum().backward()
        total[e if own_masks else 0] += book_mask.grad
    assert_same_gradients(fast, books, tolerance)
    if kind == "set_transformer":
        # The paper's straight-through gradient: that of the token interpolation.
        torch.testing.assert_close(fast_mask.grad, total, **tolerance)


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("m", [1, 2, 7, 30])
@pytest.mark.parametrize("compiled", [True, False])
def test_set_transformer(members, layers, m, compiled):
    with tokens_in_torch(really=not compiled):
        check_encoder("set_transformer", members=members, layers=layers, m=m, n=5)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dim", [16, 24, 32, 64])
def test_set_transformer_of_other_widths(dim, compiled):
    """Whole and broken vector registers."""
    with tokens_in_torch(really=not compiled):
        check_encoder("set_transformer", members=1, layers=2, m=20, n=3, dim=dim)


@pytest.mark.parametrize("kind", ["inducing_pool", "deep_sets"])
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("m", [1, 2, 7, 30])
def test_linear_encoders(kind, members, m):
    check_encoder(kind, members=members, layers=1, m=m, n=5)


@pytest.mark.parametrize("kind", ["set_transformer", "inducing_pool", "deep_sets"])
def test_masks_of_each_member(kind):
    check_encoder(kind, members=3, layers=2, m=7, n=4, own_masks=True)


@pytest.mark.parametrize("kind", ["set_transformer", "inducing_pool", "deep_sets"])
@pytest.mark.parametrize("compiled", [True, False])
def test_single_precision(kind, compiled):
    with tokens_in_torch(really=not compiled):
        check_encoder(kind, members=1, layers=2, m=30, n=9, dtype=torch.float32)


@pytest.mark.parametrize("kept", [True, False])
def test_many_small_parts(kept, monkeypatch):
    in_many_small_parts(monkeypatch, kept=kept)
    with tokens_in_torch():
        check_encoder("set_transformer", members=2, layers=2, m=9, n=7)


@pytest.mark.parametrize("compiled", [True, False])
def test_scores_too_large_to_exponentiate(compiled):
    """The softmax must not overflow: inducing points and tokens far apart."""
    with tokens_in_torch(really=not compiled):
        check_large_scores()


def check_large_scores():
    torch.manual_seed(0)
    fast, _ = make_encoder("set_transformer", 1, 6, dim=8, out_dim=6, layers=2)
    with torch.no_grad():
        for block in (fast.tokens.block, fast.more[0].block, fast.more[0].tokens.block):
            block.key.weight.mul_(100.0)
            block.query.weight.mul_(100.0)
    fast = fast.double()
    book = textbook.encoder_like(fast)
    mask = random_masks(5, 6, torch.float64)
    probe, book_probe = mask.unsqueeze(0).requires_grad_(), mask.clone().requires_grad_()
    z, expected = fast(probe)[0], book(book_probe)
    torch.testing.assert_close(z, expected, **DOUBLE)
    z.square().sum().backward()
    expected.square().sum().backward()
    assert_same_gradients(fast, [book], {"rtol": 1e-4, "atol": 1e-7})
    torch.testing.assert_close(probe.grad[0], book_probe.grad, rtol=1e-4, atol=1e-7)


@settings(max_examples=20, deadline=None)
@given(
    members=st.integers(1, 3),
    layers=st.integers(1, 3),
    m=st.integers(1, 40),
    n=st.integers(1, 20),
    own_masks=st.booleans(),
    compiled=st.booleans(),
)
def test_set_transformer_of_any_size(members, layers, m, n, own_masks, compiled):
    shape = {"members": members, "layers": layers, "m": m, "n": n}
    with tokens_in_torch(really=not compiled):
        check_encoder("set_transformer", **shape, own_masks=own_masks)


@pytest.mark.parametrize("kind", ["inducing_pool", "deep_sets"])
def test_secant_of_the_linear_encoders(kind):
    """Their mask gradient is deliberately the effect of switching a feature.

    What is linear in the mask (the pooled sum) is checked through it: along one feature the
    gradient of the sum is the exact difference of on and off. The softmax's quotient and the
    output net come after it, so only the sum itself can be compared.
    """
    torch.manual_seed(0)
    fast, _ = make_encoder(kind, 1, 7, dim=8, out_dim=6, layers=1)
    fast = fast.double()
    mask = random_masks(1, 7, torch.float64)
    probe = mask.unsqueeze(0).requires_grad_()
    if kind == "deep_sets":
        fast.output = torch.nn.Identity()
        out = fast(probe)
    else:
        out = fast.induced.tables(fast.tables.presence, fast.tables.absence).total(probe)
    direction = torch.randn_like(out)
    (out * direction).sum().backward()
    for j in range(7):
        values = []
        for bit in (1.0, 0.0):
            switched = probe.detach().clone()
            switched[..., j] = bit
            again = (
                fast(switched)
                if kind == "deep_sets"
                else fast.induced.tables(fast.tables.presence, fast.tables.absence).total(switched)
            )
            values.append((again * direction).sum())
        torch.testing.assert_close(probe.grad[0, 0, j], values[0] - values[1], **DOUBLE)
