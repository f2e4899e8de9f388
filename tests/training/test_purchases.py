"""Trajectories of purchases that a gradient can flow back through."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.masks import ColumnMap
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.training.purchases import gumbel_noise, gumbel_purchases, straight_through


def selector(m):
    torch.manual_seed(0)
    return ScoreNet(n_columns=m, n_features=m, hidden=(8,))


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 20), m=st.integers(1, 6), seed=st.integers(0, 999))
def test_every_row_buys_as_many_as_it_may_and_only_what_there_is(n, m, seed):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, m + 1, (n,), generator=generator).sort(descending=True).values
    available = (torch.rand(n, m, generator=generator) < 0.7).float()
    x = torch.rand(n, m, generator=generator) * available
    mask = gumbel_purchases(
        selector(m),
        x,
        available,
        ColumnMap(np.arange(m), m),
        lengths,
        temperature=0.5,
        generator=generator,
    )
    bought = mask.detach().round()
    torch.testing.assert_close(mask.detach(), bought, atol=1e-5, rtol=0)
    assert ((bought == 0) | (bought == 1)).all()
    assert (bought <= available).all()
    assert torch.equal(bought.sum(1), torch.minimum(lengths.float(), available.sum(1)))


def test_the_gradient_reaches_the_selector():
    net, m = selector(4), 4
    lengths = torch.tensor([3, 2, 1])
    mask = gumbel_purchases(
        net,
        torch.rand(3, m),
        torch.ones(3, m),
        ColumnMap(np.arange(m), m),
        lengths,
        temperature=1.0,
        generator=torch.Generator().manual_seed(0),
    )
    (mask * torch.arange(4.0)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    assert any(p.grad.abs().max() > 1e-4 for p in net.parameters())


def test_a_straight_through_purchase_is_hard_with_the_gradient_of_a_soft_one():
    generator = torch.Generator().manual_seed(0)
    scores, worth = (torch.randn(6, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    closed = torch.rand(6, 4, generator=generator) < 0.3
    closed[0] = True  # nothing left to buy
    hard, soft = (scores.clone().requires_grad_() for _ in range(2))
    bought = straight_through(hard, closed, temperature=0.5)
    best = scores.masked_fill(closed, -torch.inf).argmax(1)
    assert not bought[0].any()
    assert torch.equal(bought[1:], torch.eye(4, dtype=torch.float64)[best[1:]])
    chances = torch.softmax((soft / 0.5).masked_fill(closed, -1e9), -1)
    (bought * worth).sum().backward()
    (chances[1:] * worth[1:]).sum().backward()
    torch.testing.assert_close(hard.grad, soft.grad)


def test_gumbel_noise_has_the_gumbel_law():
    noise = gumbel_noise((200_000,), torch.Generator().manual_seed(0))
    assert abs(float(noise.mean()) - 0.5772) < 0.02
    assert abs(float(noise.var()) - np.pi**2 / 6) < 0.05
    assert torch.isfinite(noise).all()
