"""Safety nets under every result: what a method must not have done for its score to count."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd
from pandas.api.extensions import take

from hyperdfs.errors import HyperDFSError
from hyperdfs.features import FeatureSpace
from hyperdfs.results import Acquisition

LEAK_ROWS = 64
ROUNDING = 1e-4  # of a probability; sums in batches of other sizes differ by less
NOWHERE = -1  # the row that a cell without a value comes from
TOLERANCE = 1e-5  # of a probability that must not move; float32 sums in another order move less


class NetError(HyperDFSError):
    """A result broke a rule; `net` is the name of the rule."""

    def __init__(self, net: str, sentence: str) -> None:
        super().__init__(sentence)
        self.net = net


class Buyer(Protocol):
    """The part of a fitted classifier that the nets look at."""

    def acquire(
        self, X: Any, budget: int | None = None, *, known: np.ndarray | None = None
    ) -> Acquisition: ...

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
    """A probability of `path` is what `clf` says when it is given the bought cells alone.

    The rows looked at are dealt out over the steps. A row that bought a cell without a value is
    left out: presets that fill it in know it only in `acquire`.
    """
    rows, steps = _dealt(len(X), path.budget, np.random.default_rng(seed))
    bought = _bought(path.take(rows), steps)
    alone = _cells(X, space, np.where(bought, rows[:, None], NOWHERE))
    bought_cells = bought[:, _feature_of(space, X)]
    whole = ~(bought_cells & alone.isna().to_numpy()).any(1)
    if not whole.any():
        return
    moved = np.abs(clf.predict_proba(alone[whole]) - path.proba[rows, steps][whole]).max(1)
    if not (moved <= ROUNDING).all():
        worst = np.nan_to_num(moved, nan=np.inf).argmax()
        raise NetError(
            "prediction",
            "A scored prediction must be the one from the bought values alone, but after "
            f"{steps[whole][worst]} purchases it is off by {moved[worst]:.2g}.",
        )


def check_leaks(
    clf: Buyer, X: pd.DataFrame, space: FeatureSpace, path: Acquisition, *, seed: int = 0
) -> None:
    """Values that have not been bought change neither a prediction nor the next choice.

    `path` is what `clf` bought for X. The rows looked at are dealt out over b = 0..budget: the
    features that such a row has not bought after b purchases get the values of other rows. The
    prediction at step b and the choice that follows must stay as they were. One step for each row
    is far less than what the purchases themselves took.
    """
    rng = np.random.default_rng(seed)
    rows, steps = _dealt(len(X), path.budget, rng)
    bought = _bought(path.take(rows), steps)
    donors = rng.integers(0, len(X), bought.shape)
    mixed = _cells(X, space, np.where(bought, rows[:, None], donors))
    after = clf.acquire(mixed, 1, known=bought)
    next_choice = path.order[rows, np.minimum(steps, path.budget - 1)]
    turned = (after.order[:, 0] != next_choice) & (steps < path.budget)
    moved = np.abs(after.proba[:, 0] - path.proba[rows, steps]).max(1)
    if turned.any() or not (moved <= TOLERANCE).all():
        # A batch of another size is rounded otherwise, which can turn a tie, and random orders go
        # by the place in the batch: whole runs of one batch with and without the change decide.
        before = clf.acquire(X.iloc[rows], path.budget)
        mixed = _cells(X, space, np.where(_bought(before, steps), rows[:, None], donors))
        _compare(before, clf.acquire(mixed, path.budget), steps)


def _compare(before: Acquisition, after: Acquisition, steps: np.ndarray) -> None:
    """Nothing up to the step of each row, and not the choice that follows, may differ."""
    at = np.arange(before.budget + 1)
    turned = (after.order != before.order) & (at[:-1] <= steps[:, None])
    if turned.any():
        raise NetError(
            "leak",
            "The next purchase must not depend on values that were not bought, but after "
            f"{turned.any(0).argmax()} purchases another was made when they were replaced.",
        )
    moved = np.abs(after.proba - before.proba).max(2)
    moved = np.where(at <= steps[:, None], moved, 0.0).max(0)
    if not (moved <= TOLERANCE).all():
        step = (moved <= TOLERANCE).argmin()
        raise NetError(
            "leak",
            f"A prediction must not depend on values that were not bought, but after {step} "
            f"purchases it moved by {moved[step]:.2g} when they were replaced.",
        )


def _dealt(n: int, budget: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The rows to look at, and after how many purchases: 0..budget in turn."""
    rows = rng.permutation(n)[:LEAK_ROWS]
    return rows, np.arange(len(rows)) % (budget + 1)


def _bought(path: Acquisition, steps: np.ndarray) -> np.ndarray:
    """(n, M) bool: what each row had bought at its own step."""
    bought = np.zeros((len(steps), path.n_features), bool)
    for step in np.unique(steps):
        here = steps == step
        bought[here] = path.masks(step)[here]
    return bought


def _cells(X: pd.DataFrame, space: FeatureSpace, source: np.ndarray) -> pd.DataFrame:
    """Rows put together from those of X: each feature, with all its columns, comes from the row
    that `source`, shape (n, M), names, and NOWHERE leaves it empty."""
    cells = {
        column: take(X[column].array, source[:, feature], allow_fill=True)
        for column, feature in zip(X.columns, _feature_of(space, X), strict=True)
    }
    return pd.DataFrame(cells, columns=X.columns)


def _feature_of(space: FeatureSpace, X: pd.DataFrame) -> list[int]:
    """The feature of each column of X."""
    feature = {column: i for i, columns in enumerate(space.columns) for column in columns}
    return [feature[column] for column in X.columns]
