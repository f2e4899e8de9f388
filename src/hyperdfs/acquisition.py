"""Simulated purchase: a selector and a predictor walk through complete rows."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from hyperdfs.masks import ColumnMap

NEVER = -1e9  # score of a feature that cannot be bought; finite, so that softmax stays defined


class Predictor(Protocol):
    """p(y | x_S) for any subset."""

    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, C)``.

        One with a true attribute `peeks` is shown the whole row: a reference, no competitor.
        """
        ...


class Selector(Protocol):
    """What to buy next."""

    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, M)``; the highest is next.

        As for predictors, one that `peeks` is shown the whole row.
        """
        ...


def peeks(part: Predictor | Selector) -> bool:
    """Whether a predictor or selector is shown what nobody has paid for."""
    return getattr(part, "peeks", False)


class Trajectories(NamedTuple):
    order: np.ndarray  # (n, budget) feature indices, -1 after the last purchase
    proba: np.ndarray  # (n, budget + 1, C) after 0..budget purchases


@torch.inference_mode()
def walk(
    predictor: Predictor,
    selector: Selector,
    x: Tensor,
    available: Tensor,
    columns: ColumnMap,
    budget: int,
    *,
    known: Tensor | None = None,
    last: Tensor | None = None,
) -> Trajectories:
    """Buy `budget` features for each row, the highest score first, never one twice.

    A purchase whose result is missing (`available` is 0) is paid for and spends one step of the
    budget, but leaves the known subset as it was.

    known : (n, M) of 0 and 1, what needs no purchase; by default nothing. A row that has
    everything buys -1 from then on.
    last : (M,) bool, what is bought only when nothing else is left, whatever its score.
    """
    tried = x.new_zeros(x.shape[0], columns.n_features) if known is None else known.clone()
    mask = tried * available
    budget = min(budget, columns.n_features)
    selector_peeks, predictor_peeks = peeks(selector), peeks(predictor)

    def predict() -> Tensor:
        seen = available if predictor_peeks else mask
        return predictor.proba(x * columns.expand(seen), seen)

    order, proba = [], [predict()]
    for _ in range(budget):
        shown = x if selector_peeks else x * columns.expand(mask)
        scores = selector.scores(shown, mask)
        if last is not None:
            scores = scores.masked_fill(last, NEVER / 2)
        scores = scores.masked_fill(tried > 0, NEVER)
        choice = scores.argmax(1, keepdim=True)
        order.append(choice.masked_fill(tried.gather(1, choice) > 0, -1))
        tried.scatter_(1, choice, 1.0)
        mask.scatter_(1, choice, available.gather(1, choice))
        proba.append(predict())
    return Trajectories(
        torch.cat(order, 1).cpu().numpy().astype(np.int64), torch.stack(proba, 1).cpu().numpy()
    )
