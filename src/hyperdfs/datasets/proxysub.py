"""Proxy Substitution: five noisy copies of one hidden value, five columns of noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from hyperdfs.datasets.base import BoolArray, FloatArray, IntArray
from hyperdfs.datasets.masking import first_unobserved, observed_values

NOISE = np.array([0.1, 0.5, 1.0, 2.5, 5.0])


@dataclass(frozen=True)
class ProxySub:
    """z ~ N(0,1), y = 1[z > 0], x_i = z + ε_i for i = 1..5, x6..x10 ~ N(0,1)."""

    n_features: int = 10
    n_classes: int = 2

    def draw(self, rng: np.random.Generator, n: int) -> tuple[FloatArray, IntArray]:
        z = rng.standard_normal(n)
        X = rng.standard_normal((n, self.n_features))
        X[:, : len(NOISE)] = z[:, None] + NOISE * X[:, : len(NOISE)]
        return X, (z > 0).astype(np.int64)

    def oracle(self) -> ProxySubOracle:
        return ProxySubOracle()


class ProxySubOracle:
    """p(y=1 | x_S) = Φ(ẑ √Λ) with Λ = 1 + Σ σ_i⁻² and ẑ = Σ x_i σ_i⁻² / Λ over observed proxies."""

    def posterior(self, X: npt.ArrayLike, mask: npt.ArrayLike) -> FloatArray:
        values, observed = observed_values(X, mask)
        weight = observed[:, : len(NOISE)] * NOISE**-2.0
        precision = 1.0 + weight.sum(axis=1)
        score = (values[:, : len(NOISE)] * weight).sum(axis=1) / np.sqrt(precision)
        return np.stack([ndtr(-score), ndtr(score)], axis=1)

    def policy(self, X: npt.ArrayLike, mask: npt.ArrayLike) -> IntArray:
        """Least noise first: the columns are already in that order, pure noise last."""
        observed: BoolArray = observed_values(X, mask)[1]
        return first_unobserved(observed, np.arange(observed.shape[1]))
