"""What a stage trains on: encoded rows, what is known of them, soft targets and weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from hyperdfs.masks import ColumnMap


@dataclass(frozen=True)
class Rows:
    """n encoded rows.

    x : (n, D), zeros where a cell is missing; observed : (n, M) of 0 and 1, or None when no cell
    is missing; target : (n, C) class probabilities; weight : (n,) with mean 1; taught : (n, C) what
    the teachers alone say, or None where there are none.
    """

    x: Tensor
    observed: Tensor | None
    target: Tensor
    weight: Tensor
    columns: ColumnMap
    taught: Tensor | None = None

    def __len__(self) -> int:
        return self.x.shape[0]

    def take(self, index: Tensor) -> Rows:
        observed = None if self.observed is None else self.observed[index]
        taught = None if self.taught is None else self.taught[index]
        target, weight = self.target[index], self.weight[index]
        return Rows(self.x[index], observed, target, weight, self.columns, taught)

    def available(self) -> Tensor:
        """What can be bought, ``(n, M)``."""
        if self.observed is not None:
            return self.observed
        return torch.ones(len(self), self.columns.n_features, device=self.x.device)


def make_rows(
    values: np.ndarray,
    observed: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    columns: ColumnMap,
    device: torch.device | None = None,
    taught: np.ndarray | None = None,
) -> Rows:
    """Rows from plain arrays; weights are scaled to mean 1."""

    def tensor(array: np.ndarray) -> Tensor:
        return torch.as_tensor(array, dtype=torch.float32, device=device)

    return Rows(
        x=tensor(values),
        observed=None if observed.all() else tensor(observed),
        target=tensor(target),
        weight=tensor(weight / weight.mean()),
        columns=columns,
        taught=None if taught is None else tensor(taught),
    )


def joined(train: Rows, valid: Rows) -> Rows:
    """All rows of both. Tiny tables, whose training rows serve as validation rows, count once."""
    if len(train) == len(valid) and torch.equal(train.x, valid.x):
        return train
    return stacked(train, valid)


def stacked(first: Rows, second: Rows) -> Rows:
    """The rows of the one and then those of the other; what teachers say is left behind."""
    observed = None
    if first.observed is not None or second.observed is not None:
        observed = torch.cat([first.available(), second.available()])
    return Rows(
        torch.cat([first.x, second.x]),
        observed,
        torch.cat([first.target, second.target]),
        torch.cat([first.weight, second.weight]),
        first.columns,
    )


def shuffled_batches(
    n: int, size: int, *, multiple: int = 1, passes: int = 1, generator: torch.Generator
) -> Iterator[Tensor]:
    """Index batches of about `size` that cover 0..n-1; each length is a multiple of `multiple`.

    The last one is filled up from the start of the permutation. Each of the passes shuffles anew.
    """
    n_batches = max(1, round(n / size))
    length = -(-n // n_batches)
    length = -(-length // multiple) * multiple
    for _ in range(passes):
        order = torch.randperm(n, generator=generator)
        for start in range(0, n, length):
            index = order[start : start + length]
            short = -len(index) % multiple
            while short:
                fill = order[:short]
                index = torch.cat([index, fill])
                short -= len(fill)
            yield index
