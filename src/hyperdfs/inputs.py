"""Labels, weights and numbers as a user passes them, checked and in plain form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from hyperdfs.errors import InputError, listing
from hyperdfs.features import FeatureSpace
from hyperdfs.metrics import affordable

# By pandas' names
NO_LABELS = {"date", "datetime", "datetime64", "timedelta", "timedelta64", "time", "period"}
NO_LABELS |= {"interval", "decimal"}


def check_positive(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, got {value!r}.")
    return int(value)


def label_codes(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Label codes and the sorted classes."""
    if y is None:
        raise InputError(
            "This estimator requires y to be passed, but the target y is None; pass one label "
            "per row."
        )
    y = flat_labels(y, warn=True)
    if len(y) != n:
        raise InputError(f"X and y must be of one length, got {n} and {len(y)}; align the rows.")
    if y.dtype.kind in "mM" or pd.api.types.infer_dtype(y) in NO_LABELS:
        raise InputError(
            f"y must hold labels that are text, whole numbers or booleans, got {y[0]!r}; "
            "convert them, e.g. with y.astype(str)."
        )
    broken = y.dtype.kind == "f" and y != np.round(y)
    if np.any(broken):
        raise InputError(  # scikit-learn's checks look for the first three words
            "Unknown label type: y must hold text, whole numbers or booleans, got "
            f"{y[np.argmax(broken)]}; cut a measurement into classes first, e.g. with "
            "pd.cut(y, 3, labels=False), or pass y.astype(str) if these are names."
        )
    with input_errors():
        check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    return labels, classes


def flat_labels(y: Any, *, warn: bool = False) -> np.ndarray:
    """One label per row in numpy's own type for it, none missing."""
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    if isinstance(y, pd.Series | pd.api.extensions.ExtensionArray):
        y = pd.Series(y)
        if not isinstance(y.dtype, np.dtype):
            y = y.astype(object)  # nullable numbers would come out as floats
    with input_errors():
        y = column_or_1d(y, warn=warn)
    missing = pd.isna(y)
    if missing.any():
        raise InputError(
            f"y must hold a label for every row, got NaN (missing) in row "
            f"{int(np.argmax(missing))}; drop the rows without a label."
        )
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise InputError(
            f"y must hold finite labels, got infinity in row {int(np.argmax(np.isinf(y)))}; "
            "drop the row or give it a label."
        )
    if y.dtype == object:
        plain = {"boolean": bool, "integer": np.int64, "floating": np.float64}
        kind = pd.api.types.infer_dtype(y)
        if kind.startswith("mixed"):
            raise InputError(
                f"y must hold labels of one type, got {kind}; "
                "convert them, e.g. with y.astype(str)."
            )
        y = y.astype(plain.get(kind, object))
    return np.asarray(y)


def known_codes(y: Any, classes: np.ndarray) -> np.ndarray:
    """Codes of labels that must all be among the classes seen in training."""
    y = flat_labels(y)
    codes: np.ndarray = pd.Index(classes).get_indexer(pd.Index(y))
    unknown = codes < 0
    if unknown.any():
        raise InputError(
            f"y must hold classes seen in training ({listing(classes.tolist())}), "
            f"got {y[unknown].tolist()[0]!r}; drop those rows or train with them."
        )
    return codes


def check_selector(selector: Any) -> None:
    if not (selector is None or callable(getattr(selector, "scores", None))):
        raise InputError(
            f"selector must have a method scores(x, mask), got {selector!r}; "
            "pass e.g. hyperdfs.selectors.fixed.RandomSelector()."
        )


def known_at_start(known: Any, space: FeatureSpace, n: int) -> np.ndarray | None:
    """(n, M) of 0 and 1 from names or a boolean array; None: nothing is known."""
    if known is None:
        return None
    if isinstance(known, np.ndarray | pd.DataFrame) and known.ndim == 2:
        mask = np.asarray(known)
        if isinstance(known, pd.DataFrame):
            mask = mask[:, _columns_by_feature(known, space)]
        if mask.dtype != bool or mask.shape != (n, len(space)):
            raise InputError(
                f"known must be boolean with {n} rows, as X, and a column for each of the "
                f"{len(space)} features, got {mask.dtype} of shape {mask.shape}."
            )
        return mask.astype(float)
    if isinstance(known, str) or not isinstance(known, Iterable):
        raise InputError(
            f"known must be a list of features or a boolean array, got {known!r}; "
            "write ['age', 'sex'], say."
        )
    start = np.zeros((n, len(space)))
    start[:, [space.index(feature) for feature in known]] = 1.0
    return start


def _columns_by_feature(known: pd.DataFrame, space: FeatureSpace) -> list[int]:
    """For each feature the position of the column that bears its name."""
    found = [space.index(column) for column in known.columns]
    if sorted(found) != list(range(len(space))):
        raise InputError(
            f"known must have one column for each feature, got {listing(known.columns)}; "
            f"name each of {listing(space.names)} once."
        )
    return np.argsort(found).tolist()


def check_budgets(budgets: Iterable[int], n_features: int) -> list[int]:
    """Those of the budgets that this table can pay for."""
    listed = list(budgets) if isinstance(budgets, Iterable) else [budgets]
    whole = [b for b in listed if isinstance(b, int | np.integer) and not isinstance(b, bool)]
    wanted = affordable([int(b) for b in whole], n_features)
    if len(whole) < len(listed) or not wanted or min(wanted) < 0:
        raise InputError(
            f"budgets must be whole numbers between 0 and the {n_features} features, "
            f"got {listed}; pass e.g. budgets=[{n_features}]."
        )
    return wanted


def check_seed(random_state: Any) -> int:
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except (ValueError, TypeError):
        raise InputError(
            "random_state must be None, a whole number from 0 to 2**32 - 1 or a numpy "
            f"RandomState, got {random_state!r}."
        ) from None


@contextmanager
def input_errors() -> Iterator[None]:
    """What scikit-learn rejects is an `InputError` too; the wording stays scikit-learn's."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from None


def check_weights(sample_weight: Any, n: int) -> np.ndarray:
    """One weight per row, the largest 1."""
    if sample_weight is not None and not np.any(np.asarray(sample_weight)):
        raise InputError(
            "sample_weight must be positive for some row, got zeros only; leave it out to count "
            "every row once."
        )
    try:
        weight = _check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"sample_weight must be one finite number for each of the {n} rows: {error}"
        ) from None
    if (weight < 0).any():
        raise InputError(
            f"sample_weight must not be negative, got {weight.min()}; use 0 to leave a row out."
        )
    return np.asarray(weight / weight.max())
