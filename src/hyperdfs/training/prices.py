"""What the costs of the features add to a loss."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from hyperdfs.training.data import Rows


def relative_costs(costs: np.ndarray) -> np.ndarray:
    """Costs with mean 1; exactly 1 where all are equal."""
    if np.ptp(costs) == 0:
        return np.ones(len(costs))
    return costs / costs.mean()


def per_cost(gain: Tensor, cost: Tensor) -> Tensor:
    """Gain per cost, which is relative to the mean: all 1 changes nothing.

    Noise can put the gain of a worthless feature below 0, and there dearer must not mean better.
    """
    cost = cost.clamp_min(1e-6)
    return torch.where(gain > 0, gain / cost, gain * cost)


def extra_prices(costs: np.ndarray, weight: float, train: Rows, max_budget: int) -> Tensor:
    """Extra loss for each feature, ``(M,)``: ``weight * H(y) / B`` for one of twice the mean cost.

    Nothing when all cost the same. A mean purchase thus has to earn its share of what there is to
    know about y.
    """
    shares = (train.target * train.weight.unsqueeze(1)).mean(0)
    entropy = float(-(shares * shares.clamp_min(1e-12).log()).sum())
    extra = relative_costs(costs) - 1.0
    price = torch.tensor(weight * entropy / max_budget * extra, dtype=torch.float32)
    return price.to(train.x.device)
