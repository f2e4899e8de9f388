"""Samplers of masks and the step from features to columns."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from hyperdfs.errors import InputError
from hyperdfs.masks import ColumnMap, MaskSampler, cardinality_uniform, distinct_rows


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def all_masks(m):
    return np.array(list(product([False, True], repeat=m)))[1:]


class TestCardinalityUniform:
    def test_every_size_is_equally_likely(self):
        sizes = cardinality_uniform(20_000, 8, generator()).sum(1).int().numpy()
        assert chisquare(np.bincount(sizes, minlength=9)[1:]).pvalue > 0.01

    def test_every_subset_of_a_size_is_equally_likely(self):
        masks = cardinality_uniform(40_000, 4, generator()).numpy()
        codes = (masks @ [8, 4, 2, 1]).astype(int)
        size = all_masks(4).sum(1)
        expected = 40_000 / 4 / np.array([comb(4, k) for k in size])
        assert chisquare(np.bincount(codes, minlength=16)[1:], expected).pvalue > 0.01

    @settings(max_examples=30, deadline=None)
    @given(n=st.integers(1, 50), m=st.integers(1, 40), seed=st.integers(0, 1000))
    def test_never_empty_and_only_zeros_and_ones(self, n, m, seed):
        masks = cardinality_uniform(n, m, generator(seed))
        assert masks.shape == (n, m)
        assert ((masks == 0) | (masks == 1)).all()
        assert (masks.sum(1) >= 1).all()


class TestMaskSampler:
    @settings(max_examples=30, deadline=None)
    @given(
        held=st.sets(st.integers(0, 6), max_size=6), seed=st.integers(0, 1000), repeat=st.booleans()
    )
    def test_held_out_masks_never_come_and_all_others_do(self, held, seed, repeat):
        subsets = all_masks(3)
        held_out = subsets[sorted(held)].reshape(-1, 3)
        if repeat:
            held_out = np.concatenate([held_out, held_out])
        sampler = MaskSampler(3, generator(seed), held_out=held_out)
        masks = sampler.sample(400)
        assert not sampler.is_held_out(masks).any()
        codes = set((masks.numpy() @ [4, 2, 1]).astype(int) - 1)
        assert codes == set(range(7)) - held

    def test_is_held_out_row_by_row(self):
        held = np.zeros((1, 11), bool)
        held[0, [0, 10]] = True
        sampler = MaskSampler(11, generator(), held_out=held)
        masks = torch.zeros(3, 11)
        masks[0, [0, 10]] = 1
        masks[1, [0, 9]] = 1
        masks[2, [0, 10]] = 1 - 1e-6  # a straight-through mask is 1 up to rounding
        assert sampler.is_held_out(masks).tolist() == [True, False, True]

    def test_something_must_stay_for_training(self):
        with pytest.raises(InputError, match=r"got 7 distinct.*3 features; hold out fewer"):
            MaskSampler(3, generator(), held_out=all_masks(3))
        MaskSampler(3, generator(), held_out=all_masks(3)[:6])

    def test_without_held_out_it_is_the_plain_sampler(self):
        masks = MaskSampler(6, generator(3)).sample(20)
        assert torch.equal(masks, cardinality_uniform(20, 6, generator(3)))


class TestColumnMap:
    @settings(max_examples=30, deadline=None)
    @given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=8), seed=st.integers(0, 99))
    def test_expand_is_indexing(self, sizes, seed):
        group = np.repeat(np.arange(len(sizes)), sizes)
        columns = ColumnMap(group, len(sizes))
        assert (columns.n_features, columns.n_columns) == (len(sizes), len(group))
        mask = torch.rand(2, 5, len(sizes), generator=generator(seed))
        assert torch.equal(columns.expand(mask), mask[..., torch.from_numpy(group)])

    def test_the_gradient_reaches_the_mask(self):
        mask = torch.ones(2, 3, requires_grad=True)
        ColumnMap(np.array([0, 0, 1, 2, 2, 2]), 3).expand(mask).sum().backward()
        assert mask.grad.tolist() == [[2, 1, 3]] * 2


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 60), m=st.integers(1, 80), seed=st.integers(0, 99))
def test_distinct_rows(n, m, seed):
    kinds = (torch.rand(5, m, generator=generator(seed)) < 0.5).float()
    masks = kinds[torch.randint(5, (n,), generator=generator(seed))]
    first, inverse = distinct_rows(masks)
    assert torch.equal(masks[first][inverse], masks)
    assert len(first) == len(np.unique(masks.numpy(), axis=0))
    # The first index of every kind.
    assert all((inverse[:i] != inverse[i]).all() for i in first.tolist())
