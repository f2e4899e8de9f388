"""One live case: observe what is known, ask what to buy next, watch the prediction move."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
import torch

from hyperdfs.errors import InputError
from hyperdfs.inputs import check_positive
from hyperdfs.preprocess.readings import is_missing
from hyperdfs.results import normalised

if TYPE_CHECKING:
    from hyperdfs.estimator import DFSClassifier
    from hyperdfs.features import FeatureSpace


@dataclass(frozen=True)
class Recommendation:
    """One feature worth buying next.

    score : the selector's score, comparable within one list only.
    share : the selector's weight on it among all that can still be bought, 0 to 1.
    shift : mean change of the leading class's probability over typical results.
    """

    feature: str
    score: float
    share: float
    cost: float
    shift: float
    why: str


class Case:
    """A case in progress. Made by `clf.start_case(...)`.

    >>> case = clf.start_case(age=54)            # doctest: +SKIP
    >>> case.recommend(k=1)[0].feature           # doctest: +SKIP
    'chol'
    >>> case.observe("chol", 240).proba          # doctest: +SKIP
    array([0.31, 0.69])
    """

    def __init__(self, model: DFSClassifier, known: Mapping[str, Any]) -> None:
        # What the case stands on stays as it is when the model is fitted again.
        self._state, self._space, self._classes = model._state, model.features_, model.classes_
        device = self._state.model.device
        self._x = torch.zeros(1, self._state.shape.n_columns, device=device)
        self._mask = torch.zeros(1, self._state.shape.n_features, device=device)
        self._values: dict[int, Any] = {}
        self._skipped: set[int] = set()
        self._empty: set[int] = set()  # skipped because the result was missing
        self._steps: list[int] = []
        self._proba: np.ndarray | None = None
        for feature, value in _by_feature(known, self._space).items():
            self._take(self._fresh(feature), value)  # what is missing can still be bought
        self._given = len(self._steps)

    @property
    def values(self) -> dict[str, Any]:
        """What is known, by feature, in the order it came in."""
        names = self._space.names
        return {names[i]: self._values[i] for i in self._steps if i in self._values}

    @property
    def skipped(self) -> list[str]:
        """Features that cannot be had for this case."""
        names = self._space.names
        return [names[i] for i in self._steps if i in self._skipped]

    @property
    def cost(self) -> float:
        """Price of all purchases, those whose result was missing included.

        What was known at the start was not bought.
        """
        bought = [i for i in self._steps[self._given :] if i in self._values or i in self._empty]
        return float(self._space.costs[bought].sum())

    @property
    def proba(self) -> np.ndarray:
        """Class probabilities given what is known, in the order of `clf.classes_`."""
        if self._proba is None:
            proba = self._state.model.predictor.proba(self._x, self._mask)
            self._proba = normalised(proba.cpu().numpy())[0]
        return self._proba.copy()

    @property
    def prediction(self) -> Any:
        """The most probable label."""
        return self._classes[self.proba.argmax()]

    @property
    def done(self) -> bool:
        """Whether nothing is left to buy."""
        return not len(self._free())

    def observe(self, feature: str | int, value: Any) -> Self:
        """Take in a result. A missing value is a purchase that gave nothing: paid, then skipped."""
        index = self._fresh(feature)
        if not self._take(index, value):
            self._leave(index)
            self._empty.add(index)
        return self

    def _take(self, index: int, value: Any) -> bool:
        """Know this value from now on, unless it is missing."""
        value = _by_label(_plain(value), self._space.columns[index])
        encoded = self._state.preprocessor.encode_cells(index, value)
        if encoded is None:
            return False
        columns = self._state.preprocessor.columns_of(index)
        self._x[0, columns] = torch.from_numpy(encoded).to(self._x.device)
        self._mask[0, index] = 1.0
        self._values[index] = value
        self._steps.append(index)
        self._proba = None
        return True

    def skip(self, feature: str | int) -> Self:
        """This feature cannot be had; do not recommend it again."""
        self._leave(self._fresh(feature))
        return self

    def _leave(self, index: int) -> None:
        self._skipped.add(index)
        self._steps.append(index)

    def undo(self) -> Self:
        """Take back the last `observe` or `skip`."""
        if not self._steps:
            raise InputError("undo needs something to take back, got a case with no step.")
        index = self._steps.pop()
        self._given = min(self._given, len(self._steps))
        if index in self._skipped:
            self._skipped.remove(index)
            self._empty.discard(index)
            return self
        del self._values[index]
        self._x[0, self._state.preprocessor.columns_of(index)] = 0.0
        self._mask[0, index] = 0.0
        self._proba = None
        return self

    def recommend(self, k: int = 3) -> list[Recommendation] | None:
        """The k best features to buy next, best first; None when nothing is left."""
        k = check_positive("k", k)
        scores = self._state.model.selector.scores(self._x, self._mask)[0].cpu().numpy()
        free = self._free()
        if not len(free):
            return None
        weights = np.exp(scores[free] - scores[free].max())
        weights /= weights.sum()
        best = np.argsort(-scores[free], kind="stable")[:k]
        shifts, spans = self._foresee(free[best])
        space, label = self._space, self._classes[self.proba.argmax()]
        return [
            Recommendation(
                feature=space.names[free[i]],
                score=float(scores[free[i]]),
                share=float(weights[i]),
                cost=float(space.costs[free[i]]),
                shift=float(shift),
                why=f"typical results put P({label}) between {low:.2f} and {high:.2f}, "
                f"now {self.proba.max():.2f}",
            )
            for i, shift, (low, high) in zip(best, shifts, spans, strict=True)
        ]

    def _free(self) -> np.ndarray:
        """What can still be bought, and means something to the model."""
        known = np.flatnonzero(~self._state.preprocessor.unlearnt)
        return np.setdiff1d(known, [*self._values, *self._skipped], assume_unique=True)

    def _foresee(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each feature: how far typical results move the leading class, and its range."""
        typical = self._state.typical
        # Row 0 is the case as it stands, so that one pass answers both questions.
        n = 1 + len(features) * len(typical)
        x, mask = self._x.repeat(n, 1), self._mask.repeat(n, 1)
        for i, feature in enumerate(features):
            rows = slice(1 + i * len(typical), 1 + (i + 1) * len(typical))
            columns = self._state.preprocessor.columns_of(int(feature))
            x[rows, columns] = torch.from_numpy(typical[:, columns]).to(x.device)
            mask[rows, feature] = 1.0
        proba = self._state.model.predictor.proba(x, mask).cpu().numpy()
        if self._proba is None:
            self._proba = normalised(proba[:1])[0]
        leading = int(self._proba.argmax())
        later = proba[1:, leading].reshape(len(features), -1)
        shifts = np.abs(later - self._proba[leading]).mean(1)
        return shifts, np.stack([later.min(1), later.max(1)], 1)

    def to_dict(self) -> dict[str, Any]:
        """The case as JSON-able data, to be continued with `from_dict`."""
        names = self._space.names
        return {
            "given": self._given,
            "steps": [
                {"feature": names[i], "value": self._values[i]}
                if i in self._values
                else {"feature": names[i], "value": None}
                if i in self._empty
                else {"feature": names[i], "skipped": True}
                for i in self._steps
            ],
        }

    @classmethod
    def from_dict(cls, model: DFSClassifier, content: Mapping[str, Any]) -> Case:
        """Continue a case that `to_dict` wrote."""
        steps = content.get("steps") if isinstance(content, Mapping) else None
        if not isinstance(steps, list) or not all(map(_is_step, steps)):
            raise InputError(
                "A stored case must be a mapping with a list 'steps' of features and values, "
                f"got {content!r}; pass on what to_dict() gave."
            )
        given = content.get("given", 0)
        if type(given) is not int or not 0 <= given <= len(steps):
            raise InputError(
                "'given' of a stored case must say how many of its steps were known at the start, "
                f"0 to {len(steps)}, got {given!r}; pass on what to_dict() gave."
            )
        case = cls(model, {})
        for step in steps:
            if step.get("skipped", False):
                case.skip(step["feature"])
            else:
                case.observe(step["feature"], step.get("value"))
        case._given = given
        return case

    def _fresh(self, feature: str | int) -> int:
        index = self._space.index(feature)
        if index in self._values or index in self._skipped:
            name = self._space.names[index]
            raise InputError(f"Feature {name!r} is already known or skipped; undo() first.")
        return index


def _is_step(step: Any) -> bool:
    """Whether it names a feature, with its result or as skipped."""
    skipped = step.get("skipped", False) if isinstance(step, Mapping) else None
    return isinstance(skipped, bool) and "feature" in step


def _by_feature(known: Mapping[Any, Any], space: FeatureSpace) -> dict[Any, Any]:
    """Columns of one feature under its name, so that a row of the table is a start too."""
    merged: dict[Any, Any] = {}
    for key, value in known.items():
        owner = space.owner(key)
        # Where a feature bears the name of one of its columns, one cell is that column's.
        whole = owner is None or (key in space.names and not pd.api.types.is_scalar(value))
        feature, value = (key, value) if whole else (owner, {key: value})
        merged[feature] = _joined(feature, merged[feature], value) if feature in merged else value
    return merged


def _joined(feature: Any, first: Any, second: Any) -> dict[Any, Any]:
    """The parts of one feature, if both are parts and none is given twice."""
    both = isinstance(first, Mapping | pd.Series) and isinstance(second, Mapping | pd.Series)
    if not both or set(first.keys()) & set(second.keys()):
        raise InputError(
            f"A case takes each value once, got {feature!r} as {first!r} and as {second!r}; "
            "leave one out."
        )
    return dict([*first.items(), *second.items()])


def _by_label(value: Any, columns: tuple[Hashable, ...]) -> Any:
    """Parts by the labels of the table; JSON turns a label that is a number into text."""
    if not isinstance(value, Mapping):
        return value
    labels: dict[Hashable, Hashable] = {str(column): column for column in columns}
    labels.update({column: column for column in columns})
    return {labels.get(key, key): part for key, part in value.items()}


def _plain(value: Any) -> Any:
    """A result as JSON can hold it: plain Python, None for missing parts."""
    if type(value) is str or type(value) is int:
        return value
    if isinstance(value, Mapping | pd.Series):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        return [_plain(part) for part in value]
    if is_missing(value):
        return None
    if isinstance(value, Decimal):
        return float(value)
    value = value.item() if isinstance(value, np.generic) else value
    # Infinity may be a category's name, and JSON has no number for it.
    return str(value) if isinstance(value, float) and np.isinf(value) else value
