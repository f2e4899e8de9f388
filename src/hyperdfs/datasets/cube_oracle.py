"""The exact posterior of Cube (naive Bayes with known densities) and greedy mutual information."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from hyperdfs.datasets.base import BoolArray, FloatArray, IntArray
from hyperdfs.datasets.cube import CENTRE, N_BITS, SPREAD, Cube
from hyperdfs.datasets.masking import observed_values

# A column is, given the class, one of three kinds: bit 0, bit 1 or distractor.
_DISTRACTOR = 2
_GRID = 200


class CubeOracle:
    """p(y | x_S) ∝ Π_{j∈S} p(x_j | y); the policy buys argmax_j I(y; x_j | x_S)."""

    def __init__(self, cube: Cube) -> None:
        self._cube = cube
        self._kind = component_of(cube)
        # Columns that tell no two classes apart are last, in order, whatever was seen.
        self._informs = (self._kind != _DISTRACTOR).any(axis=0)

    def posterior(self, X: npt.ArrayLike, mask: npt.ArrayLike) -> FloatArray:
        return self._posterior(*observed_values(X, mask))

    def _posterior(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        log_density = log_components(values[:, self._informs], self._cube)
        log_density *= observed[:, self._informs]
        kinds = self._kind[:, self._informs]
        log_joint = np.zeros((len(values), len(kinds)))
        for k in range(_DISTRACTOR + 1):
            log_joint += log_density[k] @ (kinds == k).T
        log_joint -= log_joint.max(axis=1, keepdims=True)
        joint = np.exp(log_joint)
        return joint / joint.sum(axis=1, keepdims=True)

    def information(self, posterior: FloatArray) -> FloatArray:
        """I(y; x_j | x_S) in nats for every column j, shape ``(n, M)``."""
        zero = posterior @ (self._kind == 0)
        one = posterior @ (self._kind == 1)
        return mutual_information(zero, one, self._cube)

    def policy(self, X: npt.ArrayLike, mask: npt.ArrayLike) -> IntArray:
        values, observed = observed_values(X, mask)
        gain = np.where(observed, -1.0, self.information(self._posterior(values, observed)))
        return np.where(observed.all(axis=1), -1, gain.argmax(axis=1)).astype(np.int64)


def component_of(cube: Cube) -> IntArray:
    """Kind of column j given class c, shape ``(C, M)``."""
    kind = np.full((cube.n_classes, cube.n_features), _DISTRACTOR)
    for c in range(cube.n_classes):
        for j in range(N_BITS):
            kind[c, c + j] = (c >> j) & 1
    return kind


def log_components(x: FloatArray, cube: Cube) -> FloatArray:
    """Log density of x under bit 0, bit 1 and distractor, shape ``(3, *x.shape)``."""
    bits = [
        -0.5 * ((x - bit) / cube.sd) ** 2 - np.log(cube.sd * np.sqrt(2 * np.pi)) for bit in (0, 1)
    ]
    if cube.uniform:
        # A finite stand-in for log 0, so that it may be multiplied by a mask bit of 0.
        other = np.where((x >= 0) & (x < 1), 0.0, -1e6)
    else:
        other = -0.5 * ((x - CENTRE) / SPREAD) ** 2 - np.log(SPREAD * np.sqrt(2 * np.pi))
    return np.stack([*bits, other])


def mutual_information(zero: FloatArray, one: FloatArray, cube: Cube) -> FloatArray:
    """I(kind; x) for a column that is bit 0, bit 1 or distractor with given probabilities.

    The class acts on a column only through its kind, so this is I(y; x_j | x_S). Bilinear in a
    table of H(kind | x); H(kind), which is steep at the edges, is exact.
    """
    table = _conditional_entropy_table(cube)
    u, v = np.clip(zero, 0, 1) * _GRID, np.clip(one, 0, 1) * _GRID
    i, j = np.minimum(u.astype(int), _GRID - 1), np.minimum(v.astype(int), _GRID - 1)
    a, b = u - i, v - j
    left = (1 - b) * table[i, j] + b * table[i, j + 1]
    right = (1 - b) * table[i + 1, j] + b * table[i + 1, j + 1]
    other = np.clip(1 - zero - one, 0, 1)
    return entr(zero) + entr(one) + entr(other) - ((1 - a) * left + a * right)


@lru_cache(maxsize=8)
def _conditional_entropy_table(cube: Cube) -> FloatArray:
    """H(kind | x) = ∫ Σ_k entr(w_k f_k(x)) − entr(Σ_k w_k f_k(x)) dx on a grid of (w_0, w_1)."""
    x = np.linspace(-2.0, 3.0, 2001)
    density = np.exp(log_components(x, cube)) * (x[1] - x[0])
    axis = np.linspace(0.0, 1.0, _GRID + 1)
    table = np.zeros((_GRID + 1, _GRID + 1))
    for i, zero in enumerate(axis):
        one = axis[:, None]
        # Cells beyond the simplex only pad the interpolation along its edge.
        other = np.clip(1.0 - zero - one, 0.0, 1.0)
        parts = [zero * density[0] + 0 * one, one * density[1], other * density[2]]
        table[i] = (sum(entr(p) for p in parts) - entr(sum(parts))).sum(axis=1)
    return table
