"""Cube: eight classes, each marked by three neighbouring columns that spell its number in bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hyperdfs.datasets.base import FloatArray, IntArray

if TYPE_CHECKING:
    from hyperdfs.datasets.cube_oracle import CubeOracle

N_BITS = 3
CENTRE, SPREAD = 0.5, 0.3


@dataclass(frozen=True)
class Cube:
    """y uniform on 0..7; columns y, y+1, y+2 are N(bit_j(y), s²), all others are distractors.

    Distractors are N(0.5, 0.3²), or U[0, 1) for the variant "Cube-s". Bits run from the least
    significant one. Columns 10..19 (0-based) never inform.
    """

    sd: float = 0.1
    uniform: bool = False
    n_features: int = 20
    n_classes: int = 2**N_BITS

    def draw(self, rng: np.random.Generator, n: int) -> tuple[FloatArray, IntArray]:
        y = rng.integers(self.n_classes, size=n)
        if self.uniform:
            X = rng.random((n, self.n_features))
        else:
            X = rng.normal(CENTRE, SPREAD, size=(n, self.n_features))
        rows = np.arange(n)
        for j in range(N_BITS):
            X[rows, y + j] = rng.normal((y >> j) & 1, self.sd)
        return X, y.astype(np.int64)

    def oracle(self) -> CubeOracle:
        from hyperdfs.datasets.cube_oracle import CubeOracle

        return CubeOracle(self)
