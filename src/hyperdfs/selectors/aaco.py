"""AACO's rule: what similar training rows would have needed, several purchases ahead."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.acquisition import NEVER
from hyperdfs.masks import distinct_rows
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.mlp import MaskedNet, evaluating

AT_START = 1000  # rows that stand for everybody while nothing is known
WORK = 4_000_000  # numbers at a time
TIE = 1e-3  # weight of the next step's own loss, which decides between members of one plan
STEP = 1e-5  # losses are compared in these, so that rounding by the batch's size decides nothing
UNLIKE = 2.0  # squared distance to a missing cell: that of two random rows


class AACOSelector:
    """Plans with the least expected loss among the nearest training rows.

    For a case that knows x_S, its k nearest rows in the coordinates of S stand for
    p(x_rest, y | x_S). Every candidate is a plan, a set of further purchases; its loss is the mean
    of ``-ln p(y_n | x_n, S ∪ plan)`` over these rows, and each purchase in it costs `price`. The
    score of a feature is minus the loss of the best plan it belongs to; within a plan the feature
    comes first that helps most by itself.

    fitted : the stored rows "x" (N, D), "available" (N, M), "target" (N, C) and "weight" (N,), in
        random order; "scale" (D,), which gives every feature the total variance 1; "plans" (P, L),
        feature indices, -1 where a plan is shorter; "horizon" (), the largest budget to plan for;
        "price" (M,).
    """

    def __init__(
        self, net: MaskedNet, fitted: Arrays, column_group: Tensor, *, neighbours: int
    ) -> None:
        self.net, self.fitted = net, fitted
        self._group, self._neighbours = column_group, neighbours

    @torch.inference_mode()
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, M)``; the highest is next."""
        scores = torch.zeros_like(mask)
        first, number = distinct_rows(mask)
        for i, row in enumerate(first.tolist()):
            rows = (number == i).nonzero()[:, 0].to(x.device)
            if mask[row].any():
                scores[rows] = self._scores(x[rows], mask[row])
            else:  # nothing known: one answer for all
                scores[rows] = self._scores(x[row : row + 1], mask[row])
        return scores

    def _scores(self, x: Tensor, subset: Tensor) -> Tensor:
        """Scores of rows that know the same `subset` ``(M,)``."""
        free = (subset < 0.5).nonzero()[:, 0]
        if not len(free):
            return torch.zeros(len(x), len(subset), device=x.device)
        near = self.nearest(x, subset)
        used, place = near.unique(return_inverse=True)
        plans = self.plans(subset)  # the first ones are the single purchases
        losses = self._losses(used, subset + plans)
        weight = self.fitted.get("weight")[used]
        price = plans @ self.fitted.get("price")
        parts = []
        step = max(1, WORK // (len(plans) * max(near.shape[1], len(subset))))
        for rows in place.split(step):
            share = weight[rows] / weight[rows].sum(1, keepdim=True)
            expected = (losses[rows] * share.unsqueeze(2)).sum(1)  # (rows, plans)
            total = ((expected + price) / STEP).round() * STEP
            single = torch.zeros(len(rows), len(subset), device=x.device)
            single[:, free] = total[:, : len(free)]
            inside = torch.where(plans > 0, total.unsqueeze(2), torch.inf).amin(1)
            parts.append(-(inside + TIE * single))
        return torch.cat(parts).masked_fill(subset > 0.5, NEVER)

    def nearest(self, x: Tensor, subset: Tensor) -> Tensor:
        """Stored rows nearest to each of ``(n, D)`` in the coordinates of `subset`: ``(n, k)``.

        Equally near ones are taken in the stored order, which is random.
        """
        stored = self.fitted.get("x")
        if not subset.any():
            near = torch.arange(min(AT_START, len(stored)), device=x.device)
            return near.expand(len(x), -1)
        known = (subset[self._group.to(x.device)] > 0.5).nonzero()[:, 0]
        scale = self.fitted.get("scale")[known]
        points, targets = x[:, known] * scale, stored[:, known] * scale
        missing = (1.0 - self.fitted.get("available")) * subset
        order = torch.arange(len(stored), device=x.device, dtype=torch.float64)
        norms = torch.zeros(len(x), len(subset), device=x.device)
        norms.index_add_(1, self._group.to(x.device)[known], points.square())
        size = max(1, WORK // len(stored))
        parts = []
        for some, norm in zip(points.split(size), norms.split(size), strict=True):
            # Without a matrix product equal rows are at distance 0 exactly.
            exact = "donot_use_mm_for_euclid_dist"
            distance = torch.cdist(some, targets, compute_mode=exact).square().double()
            if missing.any():
                distance += (UNLIKE - norm).double() @ missing.T.double()
            distance += 1e-9 * order
            parts.append(distance.topk(min(self._neighbours, len(stored)), 1, largest=False)[1])
        return torch.cat(parts)

    def plans(self, subset: Tensor) -> Tensor:
        """Sets of further purchases ``(plans, M)``: each single one, then the longer ones."""
        free = (subset < 0.5).nonzero()[:, 0]
        single = torch.eye(len(subset), device=subset.device)[free]
        allowed = int(self.fitted.get("horizon")) - int(subset.sum())
        members = self.fitted.get("plans")
        if allowed < 2 or not len(members):
            return single
        new = (members >= 0) & (subset[members.clamp_min(0)] < 0.5)
        new &= new.cumsum(1) <= allowed
        longer = torch.zeros(len(members), len(subset), device=subset.device)
        longer.scatter_reduce_(1, members.clamp_min(0), new.to(longer), "amax")
        longer = longer[new.sum(1) >= 2]
        if not len(longer):
            return single
        return torch.cat([single, longer[distinct_rows(longer)[0].to(longer.device)]])

    def _losses(self, rows: Tensor, masks: Tensor) -> Tensor:
        """``-ln p(y_n | x_n, S)`` of stored rows ``(u,)`` for subsets ``(P, M)``: ``(u, P)``."""
        stored = [self.fitted.get(name) for name in ("x", "available", "target")]
        width = self.net.head.in_features
        step = max(1, WORK // (width * max(len(masks), masks.shape[1])))
        parts = []
        with evaluating(self.net):
            for index in rows.split(step):
                x, available, target = (array[index] for array in stored)
                logits = subset_logits(self.net, x, available, masks, self._group)
                parts.append(-(target.unsqueeze(1) * logits.log_softmax(-1)).sum(-1))
        return torch.cat(parts)


def subset_logits(
    net: MaskedNet, x: Tensor, available: Tensor, masks: Tensor, column_group: Tensor
) -> Tensor:
    """Logits of every row ``(u, D)`` under every mask ``(P, M)``: ``(u, P, C)``.

    The first layer adds up what the known features contribute, so that each contribution is
    computed once per row and not once per pair. A missing cell contributes nothing.
    """
    first = net.body[0]
    assert isinstance(first, torch.nn.Linear)
    columns, bits = first.weight[:, : x.shape[1]].T, first.weight[:, x.shape[1] :].T
    parts = bits.expand(len(x), -1, -1).clone()
    parts.index_add_(1, column_group.to(x.device), x.unsqueeze(2) * columns)
    hidden = masks @ (parts * available.unsqueeze(2)) + first.bias
    out: Tensor = net.head(net.body[1:](hidden))
    return out
