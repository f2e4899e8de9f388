"""Safety nets under every result: what a method must not have done for its score to count."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd

from hyperdfs.errors import HyperDFSError
from hyperdfs.features import FeatureSpace
from hyperdfs.results import Acquisition

LEAK_ROWS = 64
ROUNDING = 1e-4  # of a probability; sums in batches of other sizes differ by less
TOLERANCE = 1e-5  # of a probability that must not move; float32 sums in another order move less


class NetError(HyperDFSError):
    """A result broke a rule; `net` is the name of the rule."""

    def __init__(self, net: str, sentence: str) -> None:
        super().__init__(sentence)
        self.net = net


class Buyer(Protocol):
    """The part of a fitted classifier that the nets look at."""

    def acquire(self, X: Any, budget: int | None = None) -> Acquisition: ...

    def predict_proba(self, X: Any) -> np.ndarray: ...


def check_split(train: np.ndarray, test: np.ndarray, n_rows: int) -> None:
    """No test row is a training row, and every row of the data set is one of both."""
    shared = np.intersect1d(train, test)
    if len(shared):
        raise NetError(
            "split",
            f"A test row must not reach the fit, but {len(shared)} of {len(test)} test rows are "
            f"training rows, the first is row {shared[0]}.",
        )
    if len(np.union1d(train, test)) != n_rows or len(train) + len(test) != n_rows:
        raise NetError(
            "split",
            f"Training and test rows must be all {n_rows} rows, each once, got {len(train)} and "
            f"{len(test)}.",
        )


def check_purchases(order: np.ndarray, n_features: int, budget: int) -> None:
    """After b purchases exactly b different features have been bought, for all b up to `budget`."""
    if order.shape[1] != budget:
        raise NetError(
            "exact_budget",
            f"Exactly b features must be bought at budget b, but at {budget} it were "
            f"{order.shape[1]}.",
        )
    if ((order < 0) | (order >= n_features)).any():
        row, step = np.argwhere((order < 0) | (order >= n_features))[0]
        raise NetError(
            "exact_budget",
            f"Exactly b features must be bought at budget b, but purchase {step + 1} of test row "
            f"{row} is {order[row, step]}, which is none of the {n_features} features.",
        )
    ordered = np.sort(order, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]).any(1)
    if twice.any():
        row = int(twice.argmax())
        raise NetError(
            "no_repeat",
            f"No feature may be bought twice, but test row {row} bought {order[row].tolist()}.",
        )


def check_probabilities(proba: np.ndarray) -> None:
    """Probabilities are finite, not negative and sum to one."""
    valid = np.isfinite(proba).all() and (proba >= 0).all()
    if not (valid and np.allclose(proba.sum(2), 1.0, atol=1e-4)):
        raise NetError(
            "probabilities", "Class probabilities must be finite, not negative and sum to 1."
        )


def check_predictions(
    clf: Buyer, X: pd.DataFrame, space: FeatureSpace, path: Acquisition, *, seed: int = 0
) -> None:
    """Every probability of `path` is what `clf` says when it is given the bought cells alone.

    A bought cell without a value is left out: presets that fill it in know it only in `acquire`.
    """
    rows = np.sort(np.random.default_rng(seed).permutation(len(X))[:LEAK_ROWS])
    own, scored = X.iloc[rows], path.take(rows)
    empty = own.isna().to_numpy()
    for bought in range(path.budget + 1):
        known = _cells(own, space, scored.masks(bought))
        whole = ~(known & empty).any(1)
        if not whole.any():
            continue
        alone = own[whole].where(known[whole])
        moved = np.abs(clf.predict_proba(alone) - scored.proba[whole, bought]).max()
        if not moved <= ROUNDING:
            raise NetError(
                "prediction",
                "A scored prediction must be the one from the bought values alone, but after "
                f"{bought} purchases it is off by {moved:.2g}.",
            )


def check_leaks(
    clf: Buyer, X: pd.DataFrame, space: FeatureSpace, path: Acquisition, *, seed: int = 0
) -> None:
    """Values that have not been bought change neither a prediction nor the next choice.

    `path` is what `clf` bought for X. The rows looked at are dealt out over b = 0..budget: the
    features that such a row has not bought after b purchases get the values of other rows.
    Everything up to step b, and the choice that follows, must stay as it was. Six steps for each
    row are far less than what the purchases themselves took.
    """
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))[:LEAK_ROWS]
    for bought in range(path.budget + 1):
        group = np.sort(rows[bought :: path.budget + 1])
        if not len(group):
            return
        own = X.iloc[group]
        others = _from_other_rows(X, space, len(group), rng).set_index(own.index)
        if _leak(clf, own, others, space, path.take(group), bought):
            # A batch of another size is rounded otherwise, which can turn a tie: the same batch
            # with and without the change decides.
            before = clf.acquire(own, path.budget)
            sentence = _leak(clf, own, others, space, before, bought)
            if sentence:
                raise NetError("leak", sentence)


def _leak(
    clf: Buyer,
    own: pd.DataFrame,
    others: pd.DataFrame,
    space: FeatureSpace,
    before: Acquisition,
    bought: int,
) -> str | None:
    """What gives a leak away when all but the first purchases is replaced; None: nothing."""
    choices = min(bought + 1, before.budget)
    after = clf.acquire(_mixed(own, others, space, before.masks(bought)), choices)
    if (after.order[:, :choices] != before.order[:, :choices]).any():
        return (
            "The next purchase must not depend on values that were not bought, but after "
            f"{bought} purchases another was made when they were replaced."
        )
    moved = np.abs(after.proba[:, : bought + 1] - before.proba[:, : bought + 1]).max()
    if not moved <= TOLERANCE:
        return (
            f"A prediction must not depend on values that were not bought, but up to {bought} "
            f"purchases it moved by {moved:.2g} when they were replaced."
        )
    return None


def _from_other_rows(
    X: pd.DataFrame, space: FeatureSpace, n: int, rng: np.random.Generator
) -> pd.DataFrame:
    """n rows of which each feature comes, with all its columns, from a row of its own."""
    donors = {
        column: rows
        for columns in space.columns
        for rows in [rng.integers(0, len(X), n)]
        for column in columns
    }
    return pd.DataFrame({c: X[c].array.take(donors[c]) for c in X.columns}, columns=X.columns)


def _mixed(
    own: pd.DataFrame, others: pd.DataFrame, space: FeatureSpace, bought: np.ndarray
) -> pd.DataFrame:
    """The bought cells of `own`, all other cells of `others`; bought is (n, M)."""
    return own.where(_cells(own, space, bought), others)


def _cells(table: pd.DataFrame, space: FeatureSpace, bought: np.ndarray) -> np.ndarray:
    """Which cells of the table were bought, from which features were; bought is (n, M)."""
    feature_of = {column: i for i, columns in enumerate(space.columns) for column in columns}
    return bought[:, [feature_of[column] for column in table.columns]]
