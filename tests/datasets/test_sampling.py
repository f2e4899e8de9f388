"""The rows that are kept of a large data set."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.datasets.sampling import stratified_rows


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=2, max_size=5), st.integers(1, 80))
def test_a_subsample_keeps_the_proportions(counts: list[int], size: int) -> None:
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    rows = stratified_rows(labels, size)
    if len(labels) <= size:
        assert np.array_equal(rows, np.arange(len(labels)))
        return
    assert (np.diff(rows) > 0).all()
    kept = np.bincount(labels[rows], minlength=len(counts))
    share = np.array(counts) * size / len(labels)
    assert (np.abs(kept - share) <= 1).all()
    assert ((kept > 0) == (np.array(counts) > 0)).all()
    assert len(rows) == size or (share < 1).any()
    assert np.array_equal(rows, stratified_rows(labels, size))


def test_the_choice_is_the_one_that_stored_results_were_run_on() -> None:
    labels = np.arange(40) % 4 * (np.arange(40) % 3 > 0)
    assert stratified_rows(labels, 9).tolist() == [1, 5, 9, 18, 21, 22, 23, 28, 38]
