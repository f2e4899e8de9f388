"""Logits of many rows and masks, evaluated once per distinct mask."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from hyperdfs.masks import distinct_rows
from hyperdfs.nn.hyper import SubsetNet
from hyperdfs.training.data import Rows

FEW = 32  # rows for which looking for equal masks costs more than it saves
CHUNK = 512  # rows or masks at a time: keeps the working set in the cache
AT_ONCE = 64_000  # rows times masks: keeps masked copies of a large table out of memory


@torch.inference_mode()
def subset_logits(net: SubsetNet, rows: Rows, masks: Tensor) -> Tensor:
    """All rows under each of the masks, ``(K, M) -> (E, K, n, C)``; a missing cell stays unknown.

    Rows with other missing cells are mostly left with the same subset, so that here too there are
    few distinct ones.
    """
    parts = []
    for some in masks.split(max(1, AT_ONCE // len(rows))):
        x = rows.x * rows.columns.expand(some).unsqueeze(1)
        if rows.observed is None:
            parts.append(net.grouped(x.unsqueeze(0), some.unsqueeze(0)).logits)
        else:
            known = (some.unsqueeze(1) * rows.observed).flatten(0, 1)
            logits = row_logits(net, x.flatten(0, 1), known)
            parts.append(logits.unflatten(1, (len(some), -1)))
    return torch.cat(parts, 1)


@torch.inference_mode()
def row_logits(net: SubsetNet, x: Tensor, mask: Tensor) -> Tensor:
    """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(E, n, C)``."""
    if len(x) <= FEW:
        return net(x.unsqueeze(0), mask.unsqueeze(0)).logits
    first, inverse = distinct_rows(mask)
    distinct = mask[first].unsqueeze(0)
    codes = torch.cat([net.encode(part)[1] for part in distinct.split(CHUNK, 1)], 1)
    if len(x) >= 4 * len(first):
        return _by_group(net, x, codes, inverse)
    parts = [
        net.classify_rows(rows.unsqueeze(0), codes[:, number])
        for rows, number in zip(x.split(CHUNK), inverse.split(CHUNK), strict=True)
    ]
    return torch.cat(parts, 1)


def _by_group(net: SubsetNet, x: Tensor, codes: Tensor, inverse: Tensor) -> Tensor:
    """Generate each mask's classifier once and run all its rows through it.

    Groups of like size go together, filled up to the largest of them.
    """
    counts = torch.bincount(inverse)
    by_size = torch.argsort(counts, descending=True)
    order = torch.argsort(inverse, stable=True)
    starts = torch.cumsum(counts, 0) - counts
    logits = x.new_empty(net.members, len(x), net.n_classes)
    for groups in _batches_of_groups(by_size, counts):
        longest = int(counts[groups[0]])
        slot = torch.arange(longest).expand(len(groups), -1)
        real = slot < counts[groups].unsqueeze(1)
        rows = order[torch.where(real, starts[groups].unsqueeze(1) + slot, 0)]
        found = net.classify_groups(x[rows].unsqueeze(0), codes[:, groups])
        logits[:, rows[real]] = found[:, real]
    return logits


def _batches_of_groups(by_size: Tensor, counts: Tensor) -> list[Tensor]:
    """Cut the groups, largest first, where padding would double the work or the chunk is full."""
    sizes = counts[by_size].cpu().numpy()
    batches, start = [], 0
    while start < len(sizes):
        room = max(1, 8 * CHUNK // int(sizes[start]))
        alike = int(np.searchsorted(-sizes, -(sizes[start] / 2), side="right"))
        stop = max(start + 1, min(alike, start + room))
        batches.append(by_size[start:stop])
        start = stop
    return batches
