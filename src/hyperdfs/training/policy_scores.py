"""How well a policy and a predictor do on validation rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torch import Tensor

from hyperdfs.acquisition import Predictor, Selector, walk
from hyperdfs.metrics import PAPER_BUDGETS, mean_macro_f1
from hyperdfs.training.data import Rows

LEAST = 1e-12  # a probability below counts as this


class PolicyScores(NamedTuple):
    """Scores of the deterministic policy; losses are cross-entropies times the rows' weights."""

    log_loss: float  # mean over 1..B purchases
    paid: float  # extra prices, mean over 1..B purchases of what was paid until then
    f1_macro: float  # mean over 2..B purchases, the paper's AUAC-F1
    losses: np.ndarray  # (n,) mean over 2..B purchases of the loss and of the extra prices paid
    taught: np.ndarray | None  # (n,) the same against the teachers, if there are any


def first_scored(budget: int) -> int:
    """The number of purchases from which on scores count, as in the paper: two, if there are."""
    return min(PAPER_BUDGETS[0], budget)


def policy_scores(
    predictor: Predictor, policy: Selector, valid: Rows, max_budget: int, price: Tensor
) -> PolicyScores:
    """Walk all rows to the end of the budget."""
    path = walk(predictor, policy, valid.x, valid.available(), valid.columns, max_budget)
    target, weight = valid.target.cpu().numpy(), valid.weight.cpu().numpy()
    weight = weight / weight.mean()
    first = first_scored(path.order.shape[1])
    each = np.where(path.order >= 0, price.cpu().numpy()[path.order], 0.0)
    paid = each.cumsum(1)
    late = paid[:, first - 1 :].mean(1)
    taught = None if valid.taught is None else valid.taught.cpu().numpy()
    return PolicyScores(
        float((row_losses(target, path.proba[:, 1:]) * weight).mean()),
        float(paid.mean()),
        mean_macro_f1(target.argmax(1), path.proba[:, first:]),
        row_losses(target, path.proba[:, first:]) * weight + late,
        None if taught is None else row_losses(taught, path.proba[:, first:]) * weight + late,
    )


def row_losses(target: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Cross-entropy of (n, steps, C) against (n, C), mean over the steps: (n,)."""
    log = np.log(np.maximum(proba.astype(float), LEAST))
    losses: np.ndarray = -(target[:, None] * log).sum(2).mean(1)
    return losses
