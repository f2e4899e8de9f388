"""The exact posterior of the gated logit family."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hyperdfs.datasets.base import BoolArray, FloatArray, IntArray
from hyperdfs.datasets.logit_model import Branch, LogitModel, Pair
from hyperdfs.datasets.logit_plans import next_feature, plan_mask
from hyperdfs.datasets.masking import observed_values
from hyperdfs.datasets.smoothing import mean_sigmoid


class LogitOracle:
    """p(y | x_S) = E[σ(L(x)) | x_S]; an unobserved gate mixes both branches half and half."""

    def __init__(self, model: LogitModel) -> None:
        self._model = model

    def posterior(self, X: npt.ArrayLike, mask: npt.ArrayLike) -> FloatArray:
        values, observed = observed_values(X, mask)
        positive = self._positive(values, observed)
        columns = [1.0 - positive, positive]
        return np.stack(columns if self._model.positive == 1 else columns[::-1], axis=1)

    def _positive(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        model = self._model
        if model.gate is None:
            return branch_probability(model.branches[0], values, observed)
        below, above = (branch_probability(b, values, observed) for b in model.branches)
        weight = np.where(observed[:, model.gate], values[:, model.gate] < 0, 0.5)
        return weight * below + (1.0 - weight) * above

    def policy(self, X: npt.ArrayLike, mask: npt.ArrayLike) -> IntArray:
        """Gate, then the active branch; of several pairs the one with the largest known member."""
        return next_feature(self._model, *observed_values(X, mask))

    def plan(self, X: npt.ArrayLike, budget: int) -> BoolArray:
        """Mask ``(n, M)`` bought by the best policy known that is told its budget beforehand."""
        return plan_mask(self._model, np.asarray(X, dtype=np.float64), budget)


def branch_probability(branch: Branch, values: FloatArray, observed: BoolArray) -> FloatArray:
    """E[σ(L) | x_S] within one branch; unobserved values must be 0.

    L = known terms + Gaussian part (pairs with one member known) + untouched terms. Rows with the
    same untouched terms share one tabulated function of the first two.
    """
    known = np.full(len(values), branch.constant)
    variance = np.zeros(len(values))
    hidden = np.zeros(len(values), dtype=np.int64)
    for t, term in enumerate(branch.terms):
        count = observed[:, term.features].sum(axis=1)
        known += np.where(count == len(term.features), term.value(values), 0.0)
        if isinstance(term, Pair):
            member = values[:, term.first] + values[:, term.second]
            variance += np.where(count == 1, (term.scale * member) ** 2, 0.0)
        hidden |= (count == 0).astype(np.int64) << t
    sd = np.sqrt(variance)
    result = np.empty(len(values))
    for code in np.unique(hidden):
        rows = hidden == code
        terms = tuple(term for t, term in enumerate(branch.terms) if code >> t & 1)
        result[rows] = mean_sigmoid(known[rows], sd[rows], terms)
    return result
