"""A good order for everybody, from which the selector sets out to learn what suits whom."""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

from hyperdfs.nn.hyper import SubsetNet
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.training.data import Rows
from hyperdfs.training.row_logits import subset_logits

FEWEST_ROWS, MOST_ROWS = 100, 1000
MOST_TRIALS = 200_000  # rows times features: the work of one step
MOST_CANDIDATES = 64  # after the first step, the best of that step
MOST_PAIRS = 500
BIAS_STEP = 0.5  # between neighbours in the order: a start that Gumbel noise still shuffles


@torch.inference_mode()
def lookahead_order(
    net: SubsetNet, rows: Rows, budget: int, price: Tensor, generator: torch.Generator
) -> list[int]:
    """The first `budget` features of a static order, greedy with one step of lookahead.

    The next feature j minimises ``CE(S + j) + min_k CE(S + j + k)``: some features pay only in
    pairs (longitude and latitude), which a plain greedy choice never finds. Tables with too many
    pairs are left with ``CE(S + j)``, and choose among the features that do best on their own.
    """
    n = rows.columns.n_features
    n_rows = min(MOST_ROWS, max(FEWEST_ROWS, MOST_TRIALS // n))
    rows = rows.take(torch.randperm(len(rows), generator=generator)[:n_rows])
    order: list[int] = []
    candidates = list(range(n))
    while len(order) < min(budget, n):
        free = [j for j in candidates if j not in order]
        single = _losses(net, rows, [[*order, j] for j in free], price)
        score = dict(zip(free, single.tolist(), strict=True))
        pairs = list(combinations(free, 2))
        if pairs and len(pairs) <= MOST_PAIRS:
            double = _losses(net, rows, [[*order, *pair] for pair in pairs], price).tolist()
            best = dict.fromkeys(free, float("inf"))
            for pair, loss in zip(pairs, double, strict=True):
                for j in pair:
                    best[j] = min(best[j], loss)
            score = {j: score[j] + best[j] for j in free}
        if not order:
            candidates = sorted(free, key=score.__getitem__)[: max(MOST_CANDIDATES, budget)]
        order.append(min(free, key=score.__getitem__))
    return order


def _losses(net: SubsetNet, rows: Rows, subsets: list[list[int]], price: Tensor) -> Tensor:
    """Mean cross-entropy plus price of knowing each subset, averaged over the members."""
    masks = torch.zeros(len(subsets), rows.columns.n_features, device=rows.x.device)
    for mask, subset in zip(masks, subsets, strict=True):
        mask[subset] = 1.0
    logits = subset_logits(net, rows, masks)
    loss = -(torch.log_softmax(logits, -1) * rows.target).sum(-1) * rows.weight
    return loss.mean((0, 2)) + masks @ price


@torch.no_grad()
def start_from(selector: ScoreNet, order: list[int]) -> None:
    """Let the untrained selector prefer the features in this order."""
    selector.head.bias.fill_(-BIAS_STEP * len(order))
    for rank, feature in enumerate(order):
        selector.head.bias[feature] = -BIAS_STEP * rank
