"""Histories that a policy makes, and how well a whole policy does on the validation rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from hyperdfs.acquisition import NEVER, Predictor, Selector, walk
from hyperdfs.metrics import mean_log_loss
from hyperdfs.nn.mlp import evaluating
from hyperdfs.training.data import Rows
from hyperdfs.training.losses import cross_entropy
from hyperdfs.training.masked import Validate

Choose = Callable[[Tensor, Tensor, Tensor], Tensor]  # x̃, mask, closed -> (n, 1) features


def not_for_sale(rows: Rows, mask: Tensor) -> Tensor:
    """What is known already or missing in the row, ``(n, M)`` bool."""
    return rows.available() * (1.0 - mask.detach()) < 0.5


@torch.no_grad()
def greedy_histories(net: nn.Module, rows: Rows, lengths: Tensor) -> Tensor:
    """The mask of each row after `lengths` purchases, the highest of ``net(x̃, mask)`` first.

    A row whose remaining cells are all missing stands still.
    """
    mask = rows.x.new_zeros(len(rows), rows.columns.n_features)
    with evaluating(net):
        for step in range(int(lengths.max()) if len(lengths) else 0):
            active = (lengths > step).nonzero().squeeze(1).to(rows.x.device)
            some, known = rows.take(active), mask[active]
            closed = not_for_sale(some, known)
            scores = net(some.x * some.columns.expand(known), known).masked_fill(closed, NEVER)
            bought = torch.zeros_like(known).scatter_(1, scores.argmax(1, keepdim=True), 1.0)
            mask[active] = known + bought * ~closed.all(1, keepdim=True)
    return mask


@torch.no_grad()
def trajectories(choose: Choose, rows: Rows, steps: int) -> tuple[Tensor, Tensor]:
    """All masks ``(steps + 1, n, M)`` along trajectories from nothing, and choices ``(steps, n)``.

    A row with nothing left to buy stands still, and its choice means nothing.
    """
    masks, choices = [rows.x.new_zeros(len(rows), rows.columns.n_features)], []
    for _ in range(steps):
        mask = masks[-1]
        closed = not_for_sale(rows, mask)
        choice = choose(rows.x * rows.columns.expand(mask), mask, closed)
        bought = torch.zeros_like(mask).scatter_(1, choice, 1.0)
        masks.append(mask + bought * ~closed.all(1, keepdim=True))
        choices.append(choice.squeeze(1))
    return torch.stack(masks), torch.stack(choices)


def repeated(rows: Rows, times: int) -> Rows:
    """The rows one after another, `times` over."""
    return rows.take(torch.arange(len(rows), device=rows.x.device).repeat(times))


def policy_check(
    predictor: Predictor,
    selector: Selector,
    valid: Rows,
    max_budget: int,
    price: Tensor,
    *,
    cumulative: bool = False,
) -> Validate:
    """A `validate`: mean log loss after 1..B purchases of the policy, plus what they cost.

    A greedy method weighs each loss against the price of the purchase just made. With `cumulative`
    it is the price of all purchases until then, for methods that learn what a trajectory costs.
    """
    labels, weight = valid.target.argmax(1).cpu().numpy(), valid.weight.cpu().numpy()
    prices = price.cpu().numpy()
    summed = cumulative and np.ptp(prices) > 0  # of equal prices every policy pays the same

    def validate() -> float:
        path = walk(predictor, selector, valid.x, valid.available(), valid.columns, max_budget)
        paid = np.where(path.order >= 0, prices[path.order], 0.0)
        paid = paid.cumsum(1) if summed else paid
        return mean_log_loss(labels, path.proba[:, 1:], weight=weight) + float(paid.mean())

    return validate


def prior_loss(net: nn.Module, rows: Rows) -> Tensor:
    """Cross-entropy of the prediction from nothing, the same for all rows; a scalar.

    One pass of two equal rows, because batch norm cannot do with one.
    """
    nothing = rows.x.new_zeros(2, rows.x.shape[1])
    logits = net(nothing, rows.x.new_zeros(2, rows.columns.n_features))[:1]
    return cross_entropy(logits.expand(1, len(rows), -1), rows.target, rows.weight)[0]
