"""The fitted preprocessor: table in, float columns and an observed mask out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hyperdfs.errors import InputError, listing, suggest
from hyperdfs.features import FeatureSpace
from hyperdfs.preprocess import fitting
from hyperdfs.preprocess.encoding import BLANK, Columns
from hyperdfs.preprocess.readings import ColumnReader, fit_reader, is_missing, read_table

STYLES = ("default", "paper")
# Rows that are encoded at a time, so that intermediate arrays stay in the processor's cache.
CHUNK = 1024


class Encoded(NamedTuple):
    """An encoded table.

    **Shape**: ``values`` (n, D) float32, exactly 0 wherever the group is not observed;
    ``observed`` (n, M) bool.
    """

    values: np.ndarray
    observed: np.ndarray


class Preprocessor:
    """Turns a table into float columns, fitted on training rows only.

    Parameters
    ----------
    style
        ``"default"``: a number becomes a clipped z-score and piecewise-linear quantile columns, a
        category one-hot columns; a missing cell is unobserved. ``"paper"``: the paper's protocol,
        one z-scored column per raw column, after imputing the median of numbers and the mode of
        categories' ordinal codes.
    n_bins
        Most piecewise-linear columns per number (default style only). None picks 4 to 24 by the
        number of training values, and 0 below 50 values or beyond 200 features.

    Attributes
    ----------
    column_group
        **Shape** ``(D,)`` int64: the group of every encoded column, never decreasing.
    unlearnt
        **Shape** ``(M,)`` bool: groups without any value in training.

    Example
    -------
    >>> table = pd.DataFrame({"age": [30, 50, None], "sex": ["F", "M", "F"]})
    >>> prep = Preprocessor().fit(table, FeatureSpace.from_columns(table.columns))
    >>> prep.transform(table).observed.tolist()
    [[True, True], [True, True], [False, True]]
    >>> prep.encode_cells("age", "50").tolist()
    [1.0]
    """

    column_group: np.ndarray
    unlearnt: np.ndarray

    def __init__(self, *, style: str = "default", n_bins: int | None = None) -> None:
        if style not in STYLES:
            raise InputError(f"style must be one of {STYLES}, got style={style!r}")
        if n_bins is not None and (not isinstance(n_bins, int | np.integer) or n_bins < 0):
            raise InputError(f"n_bins must be None or an integer of at least 0, got {n_bins!r}")
        if n_bins is not None and style == "paper":
            raise InputError(f"style='paper' has no bins, got n_bins={n_bins}; leave it None")
        self.style = style
        self.n_bins = None if n_bins is None else int(n_bins)
        self._space: FeatureSpace | None = None

    @property
    def space(self) -> FeatureSpace:
        """The feature space it was fitted for."""
        if self._space is None:
            raise InputError("the preprocessor must be fitted before use; call fit first")
        return self._space

    @property
    def n_features(self) -> int:
        """Number of groups M."""
        return len(self.space)

    @property
    def n_columns(self) -> int:
        """Number of encoded columns D."""
        return self.columns_of(self.n_features - 1).stop

    def fit(self, table: pd.DataFrame, space: FeatureSpace) -> Preprocessor:
        """Learn kinds, categories, scales and bins from the training rows."""
        if len(table) == 0:
            raise InputError("fit needs at least one training row, got none")
        frame = _select(table, space)
        pool = self.style == "default"
        readers = [
            fit_reader(name, frame.iloc[:, i], pool=pool) for i, name in enumerate(frame.columns)
        ]
        fitting.check_not_empty(readers)
        readings = read_table(frame, readers)
        if space.kind == "pixels":
            fitting.check_pixels(readings, readers)
            readers = [ColumnReader(reader.name, "pixels") for reader in readers]
        summary = fitting.summarise(readings, readers)
        imputed = self._imputed(readers, summary, space.kind)
        columns = fitting.fit_columns(readings, readers, space, imputed=imputed, n_bins=self.n_bins)
        self._adopt(space, readers, summary, columns)
        return self

    def transform(self, table: pd.DataFrame, *, impute: bool = True) -> Encoded:
        """Encode rows; columns are matched by name, and further columns are ignored.

        In the default style and for pixels a missing cell is unobserved. The paper's style
        imputes it and counts it as observed, unless ``impute`` is False: then it is unobserved
        there as well.
        """
        readings = read_table(_select(table, self.space), self._readers)
        if self.space.kind == "pixels":
            fitting.check_pixels(readings, self._readers)
        imputed = self._imputed(self._readers, self._summary, self.space.kind)
        return self._encode(readings, imputed if impute else None)

    def readings(self, table: pd.DataFrame) -> np.ndarray:
        """One float per cell: a number, a category's code, NaN for missing; (n, raw columns)."""
        return read_table(_select(table, self.space), self._readers)

    def fit_transform(self, table: pd.DataFrame, space: FeatureSpace) -> Encoded:
        """Fit and encode the training rows."""
        return self.fit(table, space).transform(table)

    def columns_of(self, feature: str | int) -> slice:
        """The encoded columns of one group."""
        return self._slices[self._position(feature)]

    def _position(self, feature: str | int) -> int:
        """Of a feature by its name; a number is a position here, whatever the labels are."""
        return self.space.index(feature) if isinstance(feature, str) else feature

    def encode_cells(self, feature: str | int, value: Any) -> np.ndarray | None:
        """Encoded columns of one group for one case; None if its cells are all missing.

        ``value`` is a scalar for a group of one column, else a mapping column -> value (columns
        left out are missing) or a sequence in column order. Equals `transform` bit for bit, and
        takes numbers as text.
        """
        group = self._position(feature)
        readers, columns = self._live[group]
        cells = self._cells(group, value)
        row = [reader.read_cell(cell) for reader, cell in zip(readers, cells, strict=True)]
        readings = np.array([row], dtype=np.float64)
        if self.space.kind == "pixels":
            fitting.check_pixels(readings, readers)
        if np.isnan(readings).all():
            return None
        return columns.evaluate(readings)[0].astype(np.float32)

    def describe(self) -> list[dict[str, Any]]:
        """One JSON-able dict per raw column, for prompts and forms: name, feature and kind.

        Numbers add min, median and max of the training rows; categories and booleans add
        ``categories``, those that have a column of their own.
        """
        rows = []
        features = np.repeat(self.space.names, [len(members) for members in self.space.columns])
        for reader, feature, summary in zip(self._readers, features, self._summary, strict=True):
            row = dict[str, Any](name=reader.name, feature=str(feature), kind=reader.kind)
            if reader.kind == "number":
                row |= zip(("min", "median", "max"), summary.tolist(), strict=True)
            elif reader.kind != "pixels":
                row["categories"] = [False, True] if reader.kind == "boolean" else [*reader.labels]
            rows.append(row)
        return rows

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """JSON-able meta data and plain arrays; `from_state` is the inverse."""
        space = self.space
        meta = {
            "style": self.style,
            "n_bins": self.n_bins,
            "space": space.to_dict(),
            "kinds": [reader.kind for reader in self._readers],
            "labels": [list(reader.labels) for reader in self._readers],
        }
        arrays = {f"columns.{name}": array for name, array in self._columns._asdict().items()}
        arrays["summary"] = self._summary
        arrays["unseen"] = np.array([reader.unseen for reader in self._readers])
        return meta, arrays

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Preprocessor:
        """Rebuild a fitted preprocessor from `state`."""
        space = FeatureSpace.from_dict(meta["space"])
        names = chain.from_iterable(space.columns)
        unseen = arrays["unseen"].tolist()
        parts = zip(names, meta["kinds"], map(tuple, meta["labels"]), unseen, strict=True)
        readers = [ColumnReader(*part) for part in parts]
        columns = Columns(*(np.asarray(arrays[f"columns.{name}"]) for name in Columns._fields))
        self = cls(style=meta["style"], n_bins=meta["n_bins"])
        self._adopt(space, readers, np.asarray(arrays["summary"]), columns)
        return self

    def _adopt(
        self,
        space: FeatureSpace,
        readers: Sequence[ColumnReader],
        summary: np.ndarray,
        columns: Columns,
    ) -> None:
        """Take over a fitted state, and prepare the look-ups that a live case needs at once."""
        sizes = np.array([len(members) for members in space.columns])
        self._space = space
        self._readers = tuple(readers)
        self._summary = summary
        self._columns = columns
        self._first_source = np.cumsum(sizes) - sizes
        empty = [reader.kind == "empty" for reader in readers]
        self.unlearnt = np.logical_and.reduceat(empty, self._first_source)
        self.column_group = np.repeat(np.arange(len(space)), sizes)[columns.source]
        bounds = np.searchsorted(self.column_group, np.arange(len(space) + 1)).tolist()
        self._slices = [slice(*ends) for ends in pairwise(bounds)]
        starts = zip(self._first_source.tolist(), sizes.tolist(), self._slices, strict=True)
        self._live = [
            (self._readers[first : first + size], columns.part(part, first))
            for first, size, part in starts
        ]

    def _imputed(
        self, readers: Sequence[ColumnReader], summary: np.ndarray, kind: str
    ) -> np.ndarray | None:
        """The paper's imputed readings: medians and, as for an unseen category, modes."""
        if self.style != "paper" or kind == "pixels":
            return None
        modes = [reader.unseen for reader in readers]
        return np.where([reader.kind == "number" for reader in readers], summary[:, 1], modes)

    def _encode(self, readings: np.ndarray, imputed: np.ndarray | None) -> Encoded:
        observed = self._observed(readings)
        if imputed is not None:
            observed[:] = True
            readings = fitting.fill(readings, imputed)
        values = np.empty((len(readings), self.n_columns), dtype=np.float32)
        for first in range(0, len(readings), CHUNK):
            rows = slice(first, first + CHUNK)
            values[rows] = self._columns.evaluate(readings[rows])
        # Missing cells give 0 by themselves, except in the columns that tell they are missing.
        for column in np.flatnonzero(self._columns.rule == BLANK):
            values[~observed[:, self.column_group[column]], column] = 0.0
        return Encoded(values, observed)

    def _observed(self, readings: np.ndarray) -> np.ndarray:
        present = ~np.isnan(readings)
        if present.shape[1] == self.n_features:
            return present
        return np.logical_or.reduceat(present, self._first_source, axis=1)

    def _cells(self, group: int, value: Any) -> Sequence[Any]:
        """The cells of one group, in column order."""
        names = self.space.columns[group]
        if isinstance(value, Mapping):
            for name in value:
                if name not in names:
                    feature = self.space.names[group]
                    raise InputError(
                        f"feature {feature!r} has no column {name!r}; {suggest(name, names)}"
                    )
            return [value.get(name) for name in names]
        if len(names) == 1:
            return [value]
        if is_missing(value):
            return [None] * len(names)
        listed = hasattr(value, "__len__") and not isinstance(value, str | Set)  # sets: no order
        if not listed or len(value) != len(names):
            raise InputError(
                f"feature {self.space.names[group]!r} needs values for {len(names)} columns "
                f"({listing(names)}), got {value!r}; give a mapping or a list"
            )
        return list(value)


def _select(table: pd.DataFrame, space: FeatureSpace) -> pd.DataFrame:
    """The columns of the space, in its order."""
    names: list[Hashable] = list(chain.from_iterable(space.columns))
    if list(table.columns) == names:
        return table
    known = set(table.columns)
    absent = [name for name in names if name not in known]
    if absent:
        raise InputError(
            f"the table lacks columns that training had: {listing(absent)}; "
            "an unknown value is a column of NaN"
        )
    return table[names]
