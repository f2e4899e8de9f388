"""What the comparisons with the textbook share."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
import textbook
import torch

DOUBLE = {"rtol": 1e-5, "atol": 1e-9}
SINGLE = {"rtol": 2e-3, "atol": 2e-4}


def assert_same_gradients(fast, books, tolerance):
    """Every parameter's gradient, member by member."""
    for e, book in enumerate(books):
        for pair in textbook.pairs(fast, book):
            ours, theirs = pair.view(pair.fast.grad[e]), pair.book.grad
            theirs = textbook.book_part(pair, theirs)
            torch.testing.assert_close(ours, theirs, **tolerance, msg=lambda m, p=pair: p.name + m)


def random_masks(n, m, dtype):
    return (torch.rand(n, m) < torch.rand(n, 1)).to(dtype)


@contextmanager
def tokens_in_torch(*, really=True):
    """The set encoder as on a machine without a C compiler."""
    with pytest.MonkeyPatch.context() as patch:
        if really:
            patch.setattr("hyperdfs.nn.encoders.library", lambda dtype: None)
        yield


def in_many_small_parts(monkeypatch, *, kept):
    """Batches are cut into parts of one mask each; kept for backward, or computed again."""
    monkeypatch.setattr("hyperdfs.nn.encoders.CACHED", 1)
    monkeypatch.setattr("hyperdfs.nn.encoders.LARGE", 2**40 if kept else 1)
    monkeypatch.setattr("hyperdfs.nn.products.CACHED", 1)
    monkeypatch.setattr("hyperdfs.nn.products.FEW", 1)
