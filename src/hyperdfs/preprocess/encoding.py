"""Readings -> the float columns that the networks see.

An encoded column is a row of eight numbers, so a fitted encoding is eight flat arrays:

    linear   v = clip((x - start) / width, low, high)     z-scores, piecewise-linear bins, pixels
    equals   v = 1 if x == start else 0                   one category against the others
    blank    v = 1 if x is missing else 0                 "measured but blank" inside a group

and the encoded value is (v - mean) / scale. The networks put 0 in place of what is unobserved;
since every column has training mean 0, that is mean imputation, and 0 says nothing by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

LINEAR, EQUALS, BLANK = 0, 1, 2

# A z-score beyond this is an outlier that would dominate the first layer.
CLIP = 5.0
# A column of zeros and ones with deviation s reaches 1 / s: the same bound, as a floor on s.
MIN_DEVIATION = 1.0 / CLIP
# The paper's z-scores are not clipped; this bound only keeps them inside float32.
FLOAT32_SAFE = 1e30

# No accepted number divided by this overflows; finer differences count as none.
FINEST = 1e-150

MAX_BINS = 24
MIN_BINS = 4
ROWS_PER_BIN = 20
MIN_ROWS_FOR_BINS = 50


class Columns(NamedTuple):
    """Encoded columns as flat arrays of **shape** ``(D,)``; the module's text defines them."""

    source: np.ndarray  # raw column that is read
    rule: np.ndarray  # LINEAR, EQUALS or BLANK
    start: np.ndarray
    width: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    def evaluate(self, readings: np.ndarray) -> np.ndarray:
        """Encode readings of **shape** ``(n, R)`` to ``(n, D)`` float64; missing cells give 0."""
        x = readings[:, self.source].astype(np.float64, copy=False)
        values = np.clip((x - self.start) / self.width, self.low, self.high)
        missing = np.isnan(x)
        one_hot = np.flatnonzero(self.rule == EQUALS)
        if len(one_hot):
            codes = x[:, one_hot]
            values[:, one_hot] = codes == self.start[one_hot]
            # An unseen category is no evidence for or against any known one.
            missing[:, one_hot] |= codes < 0
        blank = np.flatnonzero(self.rule == BLANK)
        if len(blank):
            values[:, blank] = missing[:, blank]
            missing[:, blank] = False
        values -= self.mean
        values /= self.scale
        values[missing] = 0.0
        return values

    def part(self, columns: slice, first_source: int) -> Columns:
        """Some of the columns, for readings that begin at raw column ``first_source``."""
        cut = Columns(*(array[columns] for array in self))
        return cut._replace(source=cut.source - first_source)


def join(parts: Iterable[Columns]) -> Columns:
    """All the columns of several parts, one after the other."""
    return Columns(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def raw_columns(source: int) -> Columns:
    """One column that is the reading itself."""
    return _linear(source, 0.0, 1.0, -np.inf, np.inf)


def z_score_columns(source: int, x: np.ndarray) -> Columns:
    """One plain z-score column (the paper's); ``x`` are the training readings, imputed."""
    mean, deviation = _moments(x)
    return _linear(source, mean, deviation, -FLOAT32_SAFE, FLOAT32_SAFE)


def number_columns(source: int, x: np.ndarray, n_bins: int) -> Columns:
    """A clipped z-score and up to ``n_bins`` piecewise-linear columns of one number.

    ``x`` are the training readings that are present. Mean and deviation are those of the values
    inside generous fences, so that one absurd cell cannot flatten all the others to 0.
    """
    inside = np.clip(x, *_fences(x))
    mean, deviation = _moments(inside)
    z_low = max((inside.min() - mean) / deviation, -CLIP)
    z_high = min((inside.max() - mean) / deviation, CLIP)
    z = _linear(source, mean, deviation, z_low, z_high)
    z = z._replace(mean=np.clip((x - mean) / deviation, z_low, z_high).mean(keepdims=True))
    edges = _edges(inside, n_bins)
    # One bin between two distinct values would repeat the z-score.
    return z if len(edges) < 3 else join([z, _bin_columns(source, x, edges)])


def category_columns(source: int, codes: np.ndarray, n_codes: int) -> Columns:
    """One-hot columns of one categorical, centred by training frequency.

    Two codes need one column: the second would be its mirror image. Division by the deviation
    lets rare categories speak as loudly as common ones, up to the bound of `MIN_DEVIATION`.
    """
    wanted = np.arange(1 if n_codes == 2 else 0, n_codes, dtype=np.float64)
    share = (codes[:, None] == wanted).mean(axis=0)
    return _indicators(source, EQUALS, wanted, share)


def blank_column(source: int, share: float) -> Columns:
    """One column that tells "measured but blank"; ``share`` is how often training has it so."""
    return _indicators(source, BLANK, np.zeros(1), np.array([share]))


def default_bins(n_values: int) -> int:
    """Number of bins for a number with so many training values: none if they are too few."""
    if n_values < MIN_ROWS_FOR_BINS:
        return 0
    return int(np.clip(n_values // ROWS_PER_BIN, MIN_BINS, MAX_BINS))


def _bin_columns(source: int, x: np.ndarray, edges: np.ndarray) -> Columns:
    """Cumulative piecewise-linear encoding (Gorishniy et al. 2022): 0 before a bin, 1 past it."""
    start, width = edges[:-1], np.diff(edges)
    share = np.clip((x[:, None] - start) / width, 0.0, 1.0)
    k = len(start)
    return Columns(
        source=np.full(k, source),
        rule=np.full(k, LINEAR),
        start=start,
        width=width,
        low=np.zeros(k),
        high=np.ones(k),
        mean=share.mean(axis=0),
        scale=np.maximum(share.std(axis=0), MIN_DEVIATION),
    )


def _edges(x: np.ndarray, n_bins: int) -> np.ndarray:
    """Bin edges: training quantiles, or the distinct values themselves when they are few."""
    if n_bins < 1:
        return np.empty(0)
    edges = np.unique(x)
    if len(edges) > n_bins + 1:
        edges = np.unique(np.quantile(x, np.linspace(0.0, 1.0, n_bins + 1)))
    return edges[np.diff(edges, prepend=-np.inf) > FINEST]


def _fences(x: np.ndarray) -> tuple[float, float]:
    """One span of the central 98 % to either side of it: seven deviations of a normal law."""
    low, high = np.quantile(x, [0.01, 0.99])
    span = high - low
    # A column that is nearly always the same value has no central span to measure by.
    return (low - span, high + span) if span > 0 else (-np.inf, np.inf)


def _moments(x: np.ndarray) -> tuple[float, float]:
    """Mean and deviation; a constant has deviation 1, and its own value as the exact mean."""
    if x.min() == x.max():
        return float(x[0]), 1.0
    deviation = float(x.std())
    return float(x.mean()), deviation if deviation > FINEST else 1.0


def _linear(source: int, start: float, width: float, low: float, high: float) -> Columns:
    one = [np.array([number], dtype=np.float64) for number in (start, width, low, high, 0.0, 1.0)]
    return Columns(np.array([source]), np.array([LINEAR]), *one)


def _indicators(source: int, rule: int, start: np.ndarray, share: np.ndarray) -> Columns:
    k = len(start)
    return Columns(
        source=np.full(k, source),
        rule=np.full(k, rule),
        start=start,
        width=np.ones(k),
        low=np.zeros(k),
        high=np.ones(k),
        mean=share,
        scale=np.maximum(np.sqrt(share * (1.0 - share)), MIN_DEVIATION),
    )
