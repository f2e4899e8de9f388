"""Are the methods different? Tests over data sets, after Demšar (JMLR 2006).

One score per method and data set enters: the mean over folds. Folds of one data set share training
rows, so they are no independent evidence; data sets are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from hyperdfs.bench.table import ranks

ALPHA = 0.05
FEWEST_DATASETS, FEWEST_METHODS = 2, 3


@dataclass(frozen=True)
class Friedman:
    """Do the mean ranks differ more than chance would have it?

    `p_value` is that of Iman and Davenport's F, which is less cautious than Friedman's chi-square.
    Two methods whose mean ranks differ by less than `critical_difference` (Nemenyi, at ALPHA) are
    not told apart.
    """

    labels: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    n_datasets: int
    chi_square: float
    f_statistic: float
    p_value: float
    critical_difference: float

    def cliques(self) -> list[tuple[str, ...]]:
        """Maximal sets of two or more methods that are not told apart, the best first."""
        order = sorted(range(len(self.labels)), key=lambda i: (self.mean_ranks[i], i))
        found: list[tuple[int, int]] = []
        for start in range(len(order)):
            low = self.mean_ranks[order[start]]
            end = max(
                i
                for i in range(start, len(order))
                if self.mean_ranks[order[i]] - low < self.critical_difference
            )
            if end > start and (not found or end > found[-1][1]):
                found.append((start, end))
        return [tuple(self.labels[i] for i in order[a : b + 1]) for a, b in found]


def friedman(
    scores: np.ndarray, labels: Sequence[str], *, higher_is_better: bool = True
) -> Friedman:
    """Friedman's test, corrected for ties, and Nemenyi's difference.

    scores : of shape (data sets, methods).
    """
    n, k = scores.shape
    if n < FEWEST_DATASETS or k < FEWEST_METHODS:
        raise ValueError(f"scores must cover 2 data sets and 3 methods or more, got {n} and {k}.")
    ranked = ranks(scores, higher_is_better=higher_is_better)
    mean_ranks = ranked.mean(axis=0)
    # Ties leave ranks less room to spread: their sum of squares over what it would be without any.
    spread = np.sum((ranked - (k + 1) / 2) ** 2) / (n * k * (k * k - 1) / 12)
    chi_square = 12 * n / (k * (k + 1)) * np.sum((mean_ranks - (k + 1) / 2) ** 2)
    chi_square = chi_square / spread if spread else 0.0
    room = n * (k - 1) - chi_square  # 0 when all data sets agree on one order
    f_statistic = (n - 1) * chi_square / room if room > 1e-9 else np.inf
    return Friedman(
        labels=tuple(labels),
        mean_ranks=tuple(mean_ranks.tolist()),
        n_datasets=n,
        chi_square=float(chi_square),
        f_statistic=float(f_statistic),
        p_value=float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n - 1))),
        critical_difference=nemenyi_difference(k, n),
    )


def nemenyi_difference(n_methods: int, n_datasets: int, *, alpha: float = ALPHA) -> float:
    """The least difference of mean ranks that is significant.

    >>> round(nemenyi_difference(4, 14), 2)
    1.25
    """
    q = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


@dataclass(frozen=True)
class Comparison:
    """Two methods paired over data sets; `difference` is the median of first minus second."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    difference: float
    p_value: float
    holm_p_value: float

    @property
    def significant(self) -> bool:
        return self.holm_p_value < ALPHA


def wilcoxon_holm(
    scores: np.ndarray,
    labels: Sequence[str],
    *,
    reference: str | None = None,
    higher_is_better: bool = True,
) -> list[Comparison]:
    """Wilcoxon's signed-rank test, two-sided, of the reference against every other method.

    Without a reference, of every pair. Holm's step-down correction covers all tests returned.
    """
    pairs = [pair for pair in combinations(labels, 2) if reference is None or pair.count(reference)]
    pairs = [(a, b) if reference in (None, a) else (b, a) for a, b in pairs]
    column = {label: scores[:, i] for i, label in enumerate(labels)}
    sign = 1 if higher_is_better else -1
    gaps = [column[a] - column[b] for a, b in pairs]
    p_values = [signed_rank_p(gap) for gap in gaps]
    return [
        Comparison(
            first=a,
            second=b,
            wins=int((sign * gap > 0).sum()),
            ties=int((gap == 0).sum()),
            losses=int((sign * gap < 0).sum()),
            difference=float(np.median(gap)),
            p_value=p,
            holm_p_value=adjusted,
        )
        for (a, b), gap, p, adjusted in zip(pairs, gaps, p_values, holm(p_values), strict=True)
    ]


def signed_rank_p(gaps: np.ndarray) -> float:
    """Exact two-sided p-value of Wilcoxon's signed-rank test; differences of 0 are left out.

    All 2^n ways to put signs on the ranks are counted, tied ranks included, so that few data sets
    and equal scores need no approximation.

    >>> signed_rank_p(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    0.03125
    """
    gaps = gaps[gaps != 0]
    if not len(gaps):
        return 1.0
    doubled = np.rint(2 * stats.rankdata(np.abs(gaps))).astype(int)  # tied ranks end in .5
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1.0
    for rank in doubled:
        shifted = np.zeros_like(ways)
        shifted[rank:] = ways[: len(ways) - rank]
        ways = (ways + shifted) / 2
    positive = int(doubled[gaps > 0].sum())
    smaller = min(positive, int(doubled.sum()) - positive)
    return float(min(1.0, 2 * ways[: smaller + 1].sum()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: reject where the result is below the level.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    largest = 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * p_values[i]))
        adjusted[i] = largest
    return adjusted.tolist()


def friedman_caveat(n_datasets: int, n_methods: int) -> str:
    """A sentence on what so little data can show; empty where the test is sound."""
    if n_methods < FEWEST_METHODS:
        here = {0: "is none", 1: "is 1"}.get(n_methods, f"are {n_methods}")
        return f"Mean ranks are tested from 3 methods on; here {here}."
    if n_datasets < FEWEST_DATASETS:
        return (
            "Mean ranks are tested over data sets that several methods have all finished; here "
            + ("is 1" if n_datasets else "is none")
            + ", at least 2 are needed."
        )
    if n_datasets < 10:
        return f"With {n_datasets} data sets the test is rough: it is made for 10 and more."
    return ""


def wilcoxon_caveat(n_datasets: int, n_tests: int) -> str:
    """A sentence where even a win on every data set could not be significant; else empty."""
    least = min(1.0, 2.0 ** (1 - n_datasets))
    if n_tests * least < ALPHA:
        return ""
    tests = f"{n_tests} tests" if n_tests > 1 else "one test"
    return (
        f"With {n_datasets} data set{'s' if n_datasets != 1 else ''} and {tests} nothing can be "
        f"significant: a win on every one gives p = {least:.2g} before correction."
    )
