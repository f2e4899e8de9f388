"""K distinct masks in a batch, each with as many rows."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hyperdfs.config import make_config
from hyperdfs.errors import InputError
from hyperdfs.training.data import shuffled_batches
from hyperdfs.training.predictor_stage import batch_multiple, distinct_masks


@given(
    n=st.integers(1, 300),
    size=st.integers(1, 100),
    budget=st.one_of(st.none(), st.just("quarter"), st.integers(1, 50)),
)
def test_every_batch_falls_into_equal_parts_by_mask(n, size, budget):
    multiple = batch_multiple(budget, n)
    generator = torch.Generator().manual_seed(0)
    for index in shuffled_batches(n, size, multiple=multiple, generator=generator):
        masks = distinct_masks(budget, len(index))
        assert 1 <= masks <= len(index)
        assert len(index) % masks == 0


def test_the_three_forms_of_the_budget():
    assert [distinct_masks(budget, 128) for budget in (None, "quarter", 16)] == [128, 32, 16]
    assert distinct_masks(16, 8) == 8


@pytest.mark.parametrize("budget", [0, "half", 2.5])
def test_any_other_budget_is_refused(budget):
    with pytest.raises(InputError, match="masks_per_batch"):
        make_config("default", {"masks_per_batch": budget})
