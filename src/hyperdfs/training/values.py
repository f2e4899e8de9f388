"""What each purchase is worth to a predictor: targets for a value network.

The worth of feature j when S is known is ``sum_y q(y) [log p(y | S + j) - log p(y | S)]``. Its mean
over all rows that look alike in S is the conditional mutual information, which is what a greedy
policy wants to know. Two things keep it honest and steady: p comes from a predictor that was not
trained on the row, and q is half the row's label and half what such a predictor makes of the whole
row, which has the same mean and less noise.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from hyperdfs.acquisition import Predictor
from hyperdfs.masks import MaskSampler
from hyperdfs.training.data import Rows
from hyperdfs.training.masked import observe

AT_ONCE = 16_384  # rows that go through the predictor together
TRUTH = 0.5  # share of the label in q
LEAST = 1e-4  # probability: one bold mistake must not outweigh everything


@torch.inference_mode()
def purchase_gains(
    predictor: Predictor, rows: Rows, masks: Tensor, candidates: Tensor, sampler: MaskSampler
) -> Rows:
    """The rows as they look when `masks` is known, with what each candidate is worth as target.

    The target ``(n, M)`` is NaN for features that are no candidates, known already or missing, and
    everywhere where the subset is withheld from training.
    """
    known = observe(rows, masks, sampler)
    everything = observe(rows, rows.available())
    opinion = predictor.proba(everything.x, everything.mask)
    truth = TRUTH * rows.target + (1.0 - TRUTH) * opinion
    before = _log_loss(predictor.proba(known.x, known.mask), truth)
    gains = torch.full_like(known.mask, torch.nan)
    step = max(1, AT_ONCE // len(candidates))
    for index in torch.arange(len(rows)).split(step):
        one_more = torch.zeros(len(candidates), rows.columns.n_features)
        one_more[torch.arange(len(candidates)), candidates] = 1.0
        part = rows.take(index.repeat_interleave(len(candidates)))
        mask = known.mask[index].repeat_interleave(len(candidates), 0)
        after = observe(part, torch.maximum(mask, one_more.to(mask).repeat(len(index), 1)), sampler)
        repeated = truth[index].repeat_interleave(len(candidates), 0)
        loss = _log_loss(predictor.proba(after.x, after.mask), repeated)
        useless = (after.weight == 0) | (after.mask == mask).all(1)
        gain = before[index].repeat_interleave(len(candidates)) - loss
        gains[index.unsqueeze(1), candidates] = gain.masked_fill(useless, torch.nan).view(
            len(index), -1
        )
    gains[known.weight == 0] = torch.nan
    return Rows(known.x, known.mask, gains, known.weight, rows.columns)


def _log_loss(proba: Tensor, truth: Tensor) -> Tensor:
    return -(proba.clamp_min(LEAST).log() * truth).sum(1)


def likely_subsets(n: int, gains: np.ndarray, budget: int, generator: torch.Generator) -> Tensor:
    """Subsets of fewer than `budget` features as purchases would make them, ``(n, M)``.

    Useful features are in them more often: the k largest of ``log gain + Gumbel noise``. Each
    second subset is uniform, so that no feature is always seen with the same others.
    """
    waiting = torch.empty(n, len(gains)).exponential_(generator=generator)
    weight = torch.tensor(gains / max(gains.mean(), 1e-12), dtype=torch.float32).clamp_min(1e-3)
    favour = torch.rand(n, 1, generator=generator) < 0.5
    rank = torch.where(favour, waiting / weight, waiting).argsort(1).argsort(1)
    size = torch.randint(min(budget, len(gains)), (n, 1), generator=generator)
    return (rank < size).float()


def value_loss(gains: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """Mean squared error where the target is known; a scalar."""
    seen = ~target.isnan()
    error = torch.where(seen, gains - target.nan_to_num(), 0.0).square() * weight.unsqueeze(1)
    return error.sum() / seen.sum().clamp_min(1)
