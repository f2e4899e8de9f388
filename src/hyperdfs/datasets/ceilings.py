"""Recompute the ceiling of a synthetic set from its generator, posterior and policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hyperdfs.datasets.base import BoolArray, Ceiling, FloatArray, Oracle
from hyperdfs.datasets.catalog import dataset_info
from hyperdfs.datasets.scores import bayes_macro_f1
from hyperdfs.errors import InputError

MAX_BUDGET = 10


def ceiling(name: str, n: int = 200_000, seed: int = 1) -> Ceiling:
    """Bayes macro-F1 of a synthetic set with all features and by budget, from ``n`` fresh rows.

    >>> round(ceiling("proxysub", n=2_000).all_features_f1)
    97
    """
    family = dataset_info(name).family
    if family is None:
        raise InputError(f"a ceiling needs a generator with an oracle, and {name!r} is a table")
    oracle = family.oracle()
    X, _ = family.draw(np.random.default_rng(seed), n)
    truth = oracle.posterior(X, np.ones(X.shape[1], dtype=bool))

    def score(mask: BoolArray) -> float:
        return bayes_macro_f1(oracle.posterior(X, mask), truth)

    last = min(MAX_BUDGET, X.shape[1])
    nested = {b: score(mask) for b, mask in enumerate(rollout(oracle, X, last), start=1)}
    plan: Callable[[FloatArray, int], BoolArray] | None = getattr(oracle, "plan", None)
    curve = nested if plan is None else {b: score(plan(X, b)) for b in range(1, last + 1)}
    return Ceiling(
        all_features_f1=bayes_macro_f1(truth, truth),
        auac=_auac(curve),
        nested_auac=_auac(nested),
        curve=curve,
    )


def rollout(oracle: Oracle, X: FloatArray, budget: int) -> Iterator[BoolArray]:
    """The mask after 1, 2, … ``budget`` purchases of the oracle's policy, from nothing.

    One array is reused: copy a mask to keep it.
    """
    mask = np.zeros(X.shape, dtype=bool)
    rows = np.arange(len(X))
    for _ in range(budget):
        mask[rows, oracle.policy(X, mask)] = True
        yield mask


def _auac(curve: dict[int, float]) -> float:
    """Plain mean over budgets from 2 on."""
    return float(np.mean([f1 for budget, f1 in curve.items() if budget >= 2]))
