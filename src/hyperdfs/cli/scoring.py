"""Scores of a fitted model on rows it has not seen, for `train` and `evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperdfs.cli.files import need_columns
from hyperdfs.errors import InputError
from hyperdfs.metrics import accuracy_curve, affordable, macro_f1_curve
from hyperdfs.selectors.fixed import RandomSelector

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from hyperdfs.estimator import DFSClassifier

Curve = dict[int, float]


@dataclass(frozen=True)
class Scores:
    """Curves by number of purchases, as fractions; `auac` averages `f1_macro` over them."""

    n_rows: int
    f1_macro: Curve
    accuracy: Curve
    random_f1_macro: Curve
    auac: float
    random_auac: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def score(
    model: DFSClassifier, X: pd.DataFrame, y: np.ndarray, budgets: Sequence[int], seed: int = 0
) -> Scores:
    """The model's own order and a random one, under the same predictor."""
    kept = affordable(budgets, len(model.features_))
    if not kept:
        raise InputError(
            f"Budgets must not all exceed the {len(model.features_)} features, got "
            f"{min(budgets)} to {max(budgets)}."
        )
    codes = label_codes(model, y)
    columns = list(model._state.input_columns)  # may be numbers, which a file holds as text
    need_columns(X, map(str, columns))
    X = X[[str(column) for column in columns]].set_axis(columns, axis=1)
    proba = model.acquire(X, max(*kept, 1)).proba[:, kept]
    random = model.acquire(X, max(*kept, 1), selector=RandomSelector(seed)).proba[:, kept]
    f1, random_f1 = macro_f1_curve(codes, proba), macro_f1_curve(codes, random)

    def curve(values: np.ndarray) -> Curve:
        return dict(zip(kept, map(float, values), strict=True))

    return Scores(
        n_rows=len(codes),
        f1_macro=curve(f1),
        accuracy=curve(accuracy_curve(codes, proba)),
        random_f1_macro=curve(random_f1),
        auac=float(f1.mean()),
        random_auac=float(random_f1.mean()),
    )


def label_codes(model: DFSClassifier, y: np.ndarray) -> np.ndarray:
    """Positions in `classes_`; labels are compared as text, because CSV files carry no types."""
    known = {str(label): i for i, label in enumerate(model.classes_)}
    found = [known.get(str(label), -1) for label in y]
    if -1 in found:
        stranger = y[found.index(-1)]
        raise InputError(
            f"Labels must be classes seen in training ({', '.join(list(known)[:10])}), got "
            f"{str(stranger)!r}; is this the target column?"
        )
    return np.array(found)


def print_scores(console: Console, scores: Scores) -> None:
    from hyperdfs.cli.screen import curve_table

    budgets = list(scores.f1_macro)
    noun = "purchase" if budgets == [1] else "purchases"
    columns = {
        "macro-F1 %": scores.f1_macro,
        "accuracy %": scores.accuracy,
        "random order, macro-F1 %": scores.random_f1_macro,
    }
    console.print(curve_table(columns))
    console.print(
        f"\nMean macro-F1 over {spoken(budgets)} {noun}: "
        f"[bold]{100 * scores.auac:.1f} %[/], random order {100 * scores.random_auac:.1f} %."
    )


def spoken(budgets: Sequence[int]) -> str:
    """Ascending budgets in words.

    >>> spoken([2, 3, 4]), spoken([1, 3, 5]), spoken([5])
    ('2 to 4', '1, 3, 5', '5')
    """
    first, last = budgets[0], budgets[-1]
    whole = len(budgets) > 1 and last - first + 1 == len(budgets)
    return f"{first} to {last}" if whole else ", ".join(map(str, budgets))
