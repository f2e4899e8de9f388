"""Many rows under many masks, against one row and one mask at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.masks import ColumnMap
from hyperdfs.nn.hyper import HyperNet
from hyperdfs.training import row_logits
from hyperdfs.training.data import make_rows
from hyperdfs.training.predictor_stage import FixedMasks
from hyperdfs.training.row_logits import subset_logits

OWNER = np.array([0, 0, 1, 2, 2, 2, 3])  # feature of each column
M, C = 4, 3


def some_rows(n, missing, seed):
    rng = np.random.default_rng(seed)
    observed = rng.random((n, M)) >= missing
    values = rng.normal(size=(n, len(OWNER))) * observed[:, OWNER]
    target = rng.dirichlet(np.ones(C), n)
    return make_rows(values, observed, target, rng.random(n) + 0.1, ColumnMap(OWNER, M))


def net(members):
    torch.manual_seed(0)
    return HyperNet(n_columns=len(OWNER), n_features=M, n_classes=C, members=members, hyper_width=8)


def one_by_one(model, rows, masks):
    """The textbook: mask, encode and classify every row by itself; (E, K, n, C)."""
    logits = torch.empty(model.members, len(masks), len(rows), C)
    for k, mask in enumerate(masks):
        for i, available in enumerate(rows.available()):
            known = mask * available
            x = rows.x[i] * known[OWNER]
            logits[:, k, i] = model(x.view(1, 1, -1), known.view(1, 1, -1)).logits[:, 0]
    return logits


@pytest.mark.parametrize("at_once", [1, 64_000])
@settings(deadline=None, max_examples=25)
@given(
    n=st.integers(1, 40),
    missing=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    members=st.sampled_from([1, 3]),
    seed=st.integers(0, 2**16),
)
def test_as_one_by_one(at_once, n, missing, members, seed):
    rows, model = some_rows(n, missing, seed), net(members)
    masks = torch.randint(0, 2, (6, M), generator=torch.Generator().manual_seed(seed)).float()
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(row_logits, "AT_ONCE", at_once)
        expected = one_by_one(model, rows, masks)
        torch.testing.assert_close(subset_logits(model, rows, masks), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_validation_is_the_weighted_mean_over_rows_and_masks(missing):
    rows, model = some_rows(30, missing, 0), net(2)
    masks = torch.randint(0, 2, (5, M), generator=torch.Generator().manual_seed(1)).float()
    with torch.no_grad():
        log_p = one_by_one(model, rows, masks).log_softmax(-1)
        expected = -((log_p * rows.target).sum(-1) * rows.weight).mean((1, 2))
    torch.testing.assert_close(FixedMasks(rows, masks).loss(model), expected, atol=1e-5, rtol=0)
