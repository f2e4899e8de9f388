"""Generators whose logit is a sum of independent terms, chosen by a gate: syn, sefa, sim, SynPairs.

x ~ N(0, I_M). One class (``positive``) has probability σ(L(x)); L is the sum of a branch's terms,
and a gate feature picks the branch by its sign (x_gate < 0: the first one).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from hyperdfs.datasets.base import FloatArray, IntArray

if TYPE_CHECKING:
    from hyperdfs.datasets.logit_oracle import LogitOracle

Shape = Callable[[FloatArray], FloatArray]

# One-feature terms by name; the name is also the cache key of the term's distribution.
SHAPES: dict[str, Shape] = {
    "linear": lambda x: x,
    "square": lambda x: x**2,
    "abs": np.abs,
    "exp(-x)": lambda x: np.exp(-x),
    "sin(0.2x)": lambda x: np.sin(0.2 * x),
    "sin(2x)": lambda x: np.sin(2.0 * x),
}


@dataclass(frozen=True)
class Single:
    """The term scale · f(x_i)."""

    feature: int
    shape: str
    scale: float = 1.0

    @property
    def features(self) -> tuple[int, ...]:
        return (self.feature,)

    def value(self, X: FloatArray) -> FloatArray:
        return self.scale * SHAPES[self.shape](X[:, self.feature])


@dataclass(frozen=True)
class Pair:
    """The term scale · x_i · x_j: with one member unknown it is Gaussian, with both Bessel K0."""

    first: int
    second: int
    scale: float = 1.0

    @property
    def features(self) -> tuple[int, ...]:
        return (self.first, self.second)

    def value(self, X: FloatArray) -> FloatArray:
        return self.scale * X[:, self.first] * X[:, self.second]


Term = Single | Pair


@dataclass(frozen=True)
class Branch:
    """A logit L(x) = constant + Σ terms, every feature in at most one term."""

    terms: tuple[Term, ...]
    constant: float = 0.0

    @property
    def features(self) -> tuple[int, ...]:
        return tuple(i for term in self.terms for i in term.features)

    def logit(self, X: FloatArray) -> FloatArray:
        total = np.full(len(X), self.constant)
        for term in self.terms:
            total += term.value(X)
        return total


@dataclass(frozen=True)
class LogitModel:
    """The generator. Without a gate there is one branch, with a gate two."""

    n_features: int
    branches: tuple[Branch, ...]
    gate: int | None = None
    positive: int = 1
    n_classes: int = 2

    def logit(self, X: FloatArray) -> FloatArray:
        if self.gate is None:
            return self.branches[0].logit(X)
        below, above = self.branches
        return np.where(X[:, self.gate] < 0, below.logit(X), above.logit(X))

    def draw(self, rng: np.random.Generator, n: int) -> tuple[FloatArray, IntArray]:
        X = rng.standard_normal((n, self.n_features))
        hit = rng.random(n) < expit(self.logit(X))
        return X, np.where(hit, self.positive, 1 - self.positive).astype(np.int64)

    def oracle(self) -> LogitOracle:
        from hyperdfs.datasets.logit_oracle import LogitOracle

        return LogitOracle(self)


def pairs_branch(scale: float = 1.0, *, n_pairs: int = 1) -> Branch:
    """L1 = scale · (x1x2 + x3x4 + …)."""
    return Branch(tuple(Pair(2 * k, 2 * k + 1, scale) for k in range(n_pairs)))


def squares_branch(scale: float = 1.0, constant: float = -4.0) -> Branch:
    """L2 = scale · (x3² + x4² + x5² + x6²) + constant."""
    return Branch(tuple(Single(i, "square", scale) for i in range(2, 6)), constant)


def mixed_branch(l3: str = "code", constant: float | None = None) -> Branch:
    """L3 as in the INVASE code or as its paper prints it; they differ.

    code:  −10 sin(0.2 x7) + |x8| + x9 + e^{−x10} − 2.4
    paper: −10 sin(2 x7) + 2|x8| + x9 + e^{−x10}
    """
    sine, weight, offset = {"code": ("sin(0.2x)", 1.0, -2.4), "paper": ("sin(2x)", 2.0, 0.0)}[l3]
    terms = (
        Single(6, sine, -10.0),
        Single(7, "abs", weight),
        Single(8, "linear"),
        Single(9, "exp(-x)"),
    )
    return Branch(terms, offset if constant is None else constant)


def linear_branch(weight: float, n_terms: int) -> Branch:
    """weight · (x1 + … + x_n)."""
    return Branch(tuple(Single(i, "linear", weight) for i in range(n_terms)))
