"""What a data set is: the loaded table, its catalog entry, and the Bayes oracle of a generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from hyperdfs.datasets.content import content_hash
from hyperdfs.datasets.files import Alternatives, find_files

if TYPE_CHECKING:
    import pandas as pd

    from hyperdfs.datasets.prices import CostSheet
    from hyperdfs.features import FeatureSpace

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class Oracle(Protocol):
    """The true p(y | x_S) of a generator, and the best policy known for it.

    Shape: X ``(n, M)`` raw values, mask ``(n, M)`` or ``(M,)`` with True for observed. Values where
    the mask is False are never read; they may be NaN. An oracle that buys better when it is told
    the budget has in addition ``plan(X, budget)``, the mask ``(n, M)`` it would end with.
    """

    def posterior(self, X: npt.ArrayLike, mask: npt.ArrayLike) -> FloatArray:
        """p(y | x_S), shape ``(n, C)``."""
        ...

    def policy(self, X: npt.ArrayLike, mask: npt.ArrayLike) -> IntArray:
        """Index of the feature to buy next, shape ``(n,)``; -1 where everything is observed."""
        ...


class Family(Protocol):
    """A synthetic generator that knows its own oracle."""

    @property
    def n_features(self) -> int: ...

    @property
    def n_classes(self) -> int: ...

    def draw(self, rng: np.random.Generator, n: int) -> tuple[FloatArray, IntArray]:
        """n rows of X ``(n, M)`` and labels y ``(n,)``."""
        ...

    def oracle(self) -> Oracle: ...


@dataclass(frozen=True)
class Ceiling:
    """Macro-F1 of the Bayes classifier in percent: what no method can beat, or nearly so.

    ``all_features_f1`` is a hard bound. ``auac`` is the mean over budgets 2..min(10, M) of the best
    policy known that is told its budget, a close bound; ``curve`` maps a budget to its macro-F1.
    ``nested_auac`` is the same mean for ``Oracle.policy``, which buys one by one without knowing
    the budget, as every DFS method must.
    """

    all_features_f1: float
    auac: float
    nested_auac: float
    curve: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RawData:
    """What a loader returns. Without ``features`` every column is a feature of price 1.

    ``n_train`` says that the first rows are the official training part of the data.
    """

    X: pd.DataFrame
    y: IntArray
    class_names: tuple[str, ...] = ()
    features: FeatureSpace | None = None
    n_train: int | None = None


@dataclass(frozen=True)
class DatasetInfo:
    """One catalog entry: everything that is known of a data set before it is loaded.

    ``load(seed, n_samples)``; real data ignore both arguments. ``n_rows`` of a generator is its
    default. ``class_counts`` and ``content`` (`content_hash` of X and y) are verified when files
    are read; they are empty where nobody has published them. ``dropped`` maps a column of the file
    that is no feature to the reason, ``notes`` are the traps a user should know.
    """

    name: str
    kind: str
    description: str
    n_rows: int
    n_features: int
    n_classes: int
    licence: str
    source: str
    load: Callable[[int, int], RawData] = field(repr=False)
    majority_share: float
    ceiling: Ceiling | None = None
    family: Family | None = field(default=None, repr=False)
    files: Alternatives = ()
    target: str = ""
    dropped: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    class_counts: Mapping[str, int] = field(default_factory=dict)
    content: str = ""
    cost_sheet: CostSheet | None = field(default=None, repr=False)

    @property
    def at_hand(self) -> bool:
        """Whether it loads without a download."""
        return not self.files or find_files(self.files) is not None


@dataclass(frozen=True)
class Dataset:
    """A loaded data set.

    Shape: X ``(n, number of columns)``, y ``(n,)`` with labels ``0..n_classes-1``. The first
    ``n_train`` rows are the official training part, where the publisher made one. Of a user's own
    table, ``notes`` are what looks wrong in it and ``file_rows`` the place of each row in the file.
    """

    name: str
    X: pd.DataFrame
    y: IntArray
    features: FeatureSpace
    n_classes: int
    class_names: tuple[str, ...]
    oracle: Oracle | None
    kind: str
    licence: str
    source: str
    description: str
    n_train: int | None = None
    notes: tuple[str, ...] = ()
    file_rows: tuple[int, ...] = ()

    @property
    def costs(self) -> FloatArray:
        """Price of every acquirable feature, shape ``(M,)``."""
        return np.asarray(self.features.costs, dtype=np.float64)

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits that change with any value, label, column, group or price."""
        return content_hash(self.X, self.y, self.features)[:16]
