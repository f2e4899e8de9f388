"""How well a policy and a predictor do on validation rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from torch import Tensor

from hyperdfs.acquisition import Predictor, Selector, walk
from hyperdfs.metrics import mean_macro_f1, row_log_loss
from hyperdfs.training.data import Rows


class PolicyScores(NamedTuple):
    """Scores of the deterministic policy."""

    losses: np.ndarray  # (n,) mean log loss after 1..B purchases, times the row's weight
    paid: np.ndarray  # (n,) mean over 1..B purchases of the extra prices paid until then
    f1_macro: float  # mean over 2..B purchases, the paper's AUAC-F1

    @property
    def log_loss(self) -> float:
        return float(self.losses.mean())


def policy_scores(
    predictor: Predictor, policy: Selector, valid: Rows, max_budget: int, price: Tensor
) -> PolicyScores:
    """Walk all rows to the end of the budget."""
    path = walk(predictor, policy, valid.x, valid.available(), valid.columns, max_budget)
    labels, weight = valid.target.argmax(1).cpu().numpy(), valid.weight.cpu().numpy()
    each = np.where(path.order >= 0, price.cpu().numpy()[path.order], 0.0)
    return PolicyScores(
        row_log_loss(labels, path.proba[:, 1:]) * weight / weight.mean(),
        each.cumsum(1).mean(1),
        mean_macro_f1(labels, path.proba[:, min(2, max_budget) :]),
    )
