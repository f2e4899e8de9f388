"""What a page says, before it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Curve:
    """A score by number of purchases, as fractions. `style`: "model", "random" or "ceiling"."""

    title: str
    style: str
    values: Mapping[int, float]


@dataclass(frozen=True)
class Purchase:
    """One step of a case: what was bought, what came out, and the prediction after it."""

    feature: str
    value: str
    proba: Sequence[float]


@dataclass(frozen=True)
class CasePath:
    """One case from nothing; `truth` is the position of its true class."""

    row: int
    truth: int
    start: Sequence[float]
    purchases: Sequence[Purchase]

    @property
    def right(self) -> bool:
        last = self.purchases[-1].proba if self.purchases else self.start
        return max(range(len(last)), key=lambda k: last[k]) == self.truth


@dataclass(frozen=True)
class HeatMap:
    """Share of the cases that buy each feature at each step: ``shares[feature][step]``."""

    features: Sequence[str]
    shares: Sequence[Sequence[float]]
    never: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """Everything on the page."""

    title: str
    headline: str
    task: str
    metric: str
    note: str
    classes: Sequence[str]
    curves: Sequence[Curve]
    paths: Sequence[CasePath]
    heat: HeatMap
    settings: Mapping[str, str]
    command: str
