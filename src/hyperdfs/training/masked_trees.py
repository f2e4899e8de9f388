"""One booster for any subset: trees grown on many copies of the rows with random cells hidden."""

from __future__ import annotations

import numpy as np
import torch

from hyperdfs.masks import MaskSampler
from hyperdfs.training.boosting import Growth, Table, Trial, bins_for, to_table, try_out
from hyperdfs.training.data import Rows

MOST_CELLS, MOST_ROWS = 10_000_000, 30_000  # of all copies together
MOST_COPIES = 12
CHECKS = 4  # copies of each validation row


def fit_masked_trees(
    train: Rows, valid: Rows, sampler: MaskSampler, *, n_classes: int, rounds: int, seed: int
) -> Trial:
    """Trees on masked copies of the training rows, up to the best round on masked valid rows."""
    n, n_columns = train.x.shape
    most = min(MOST_CELLS // n_columns, MOST_ROWS)
    copies = int(np.clip(most // n, 2, MOST_COPIES))
    if n_classes > 2:  # a tree a round for each class
        rounds = -(-rounds // 2)
    return try_out(
        masked_copies(train, copies, sampler),
        masked_copies(valid, CHECKS, sampler),
        np.arange(n_columns),
        Growth(rounds=rounds, rate=0.1, leaves=31, bins=bins_for(n_columns)),
        n_classes,
        seed,
    )


def masked_copies(rows: Rows, copies: int, sampler: MaskSampler) -> Table:
    """Each row several times, with a random subset each time."""
    repeated = rows.take(torch.arange(len(rows)).repeat(copies))
    return to_table(repeated, sampler.sample(len(repeated)), sampler)
