"""Dropout by random bytes against what dropout is."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.nn.dropout import Dropout


@settings(deadline=None)
@given(
    p=st.floats(0.0, 1.0, exclude_max=True),
    shape=st.sampled_from([(), (1,), (7,), (3, 5), (2, 3, 4), (0, 4)]),
)
def test_entries_are_dropped_or_scaled_by_one_factor(p: float, shape: tuple[int, ...]) -> None:
    layer = Dropout(p)
    x = torch.full(shape, 2.0)
    factor = 256 / (256 - min(round(256 * p), 255))
    out = layer(x)
    assert out.shape == x.shape
    assert bool(((out == 0) | torch.isclose(out, 2.0 * torch.tensor(factor))).all())


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.9])
def test_the_share_and_the_mean_are_right(p: float) -> None:
    torch.manual_seed(0)
    out = Dropout(p)(torch.ones(400_000))
    assert float((out == 0).double().mean()) == pytest.approx(p, abs=0.004)
    assert float(out.double().mean()) == pytest.approx(1.0, abs=0.02)


def test_neighbours_are_independent() -> None:
    """Eight entries come from one random word."""
    torch.manual_seed(0)
    kept = (Dropout(0.5)(torch.ones(8 * 50_000)) > 0).view(-1, 8).double()
    assert torch.allclose(torch.cov(kept.T), torch.eye(8, dtype=torch.double) / 4, atol=0.006)


def test_the_gradient_passes_where_the_entry_did() -> None:
    x = torch.ones(1000, requires_grad=True)
    out = Dropout(0.3)(x)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


def test_evaluation_and_seeds() -> None:
    layer, x = Dropout(0.3), torch.randn(50)
    torch.manual_seed(3)
    first = layer(x)
    torch.manual_seed(3)
    assert torch.equal(layer(x), first)
    assert not torch.equal(layer(x), first)
    assert torch.equal(layer.eval()(x), x)
