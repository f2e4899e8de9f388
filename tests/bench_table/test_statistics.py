"""Tests over data sets, against the worked example of Demšar (2006) and scipy."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hyperdfs.bench.statistics import (
    Friedman,
    friedman,
    friedman_caveat,
    holm,
    nemenyi_difference,
    signed_rank_p,
    wilcoxon_caveat,
    wilcoxon_holm,
)

# AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets: table 6 of the article. It prints
# 0.975 twice for "voting" but ranks +cf before +m+cf there: the tie is one of rounding.
LABELS = ("C4.5", "+m", "+cf", "+m+cf")
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def tie_loss(scores: np.ndarray) -> float:
    """The share of the spread of ranks that ties in a row take away."""
    counts = np.unique(scores, return_counts=True)[1]
    return float(np.sum(counts**3 - counts) / (len(scores) ** 3 - len(scores)))


def test_friedman_and_nemenyi_of_the_article() -> None:
    found = friedman(AUC, LABELS)
    untied = np.mean([1 - tie_loss(row) for row in AUC])
    assert found.mean_ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    # The article corrects no ties: its chi-square and the F that follows from it.
    chi_square = found.chi_square * untied
    assert chi_square == pytest.approx(9.28, abs=0.02)
    assert 13 * chi_square / (14 * 3 - chi_square) == pytest.approx(3.69, abs=0.01)
    assert found.p_value < 0.05  # the article's critical value of F(3, 39) is 2.85
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    # The largest difference of ranks, 1.18, is below 1.25: no two are told apart.
    assert found.cliques() == [("+m+cf", "+m", "+cf", "C4.5")]


@pytest.mark.parametrize(
    ("n_methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)]
)
def test_critical_values_of_the_article(n_methods: int, q: float) -> None:
    scale = np.sqrt(n_methods * (n_methods + 1) / 6)
    assert nemenyi_difference(n_methods, 1) == pytest.approx(q * scale, abs=2e-3 * scale)
    assert nemenyi_difference(2, 1, alpha=0.1) == pytest.approx(1.645, abs=1e-3)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(3, 7), st.booleans())
def test_friedman_agrees_with_scipy(seed: int, n: int, k: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, (n, k)).astype(float) if tied else rng.normal(size=(n, k))
    scores[0] = rng.permutation(k)  # in one row at least the methods differ
    found = friedman(scores, [str(i) for i in range(k)])
    assert found.chi_square == pytest.approx(stats.friedmanchisquare(*scores.T).statistic)
    assert 0 <= found.p_value <= 1
    flipped = friedman(-scores, found.labels, higher_is_better=False)
    assert flipped.mean_ranks == found.mean_ranks


def test_perfect_agreement_is_certain_and_total_ties_are_nothing() -> None:
    agreed = friedman(np.tile([3.0, 2.0, 1.0], (6, 1)), "abc")
    assert (agreed.f_statistic, agreed.p_value) == (np.inf, 0)
    tied = friedman(np.ones((6, 3)), "abc")
    assert (tied.chi_square, tied.p_value) == (pytest.approx(0), pytest.approx(1))


def test_cliques_overlap_but_none_contains_another() -> None:
    found = Friedman(tuple("abcde"), (1.0, 1.8, 2.6, 4.9, 5.0), 9, 0, 0, 0, 1.0)
    assert found.cliques() == [("a", "b"), ("b", "c"), ("d", "e")]


def test_signed_ranks_of_the_article() -> None:
    gaps = np.round(AUC[:, 1] - AUC[:, 0], 3)
    ranks = stats.rankdata(np.abs(gaps))
    losses = ranks[gaps < 0].sum() + ranks[gaps == 0].sum() / 2
    assert losses == 12  # the article's T, which shares the ranks of the two ties
    assert signed_rank_p(gaps) < 0.05  # T is below its critical value of 21


@given(st.integers(0, 10_000), st.integers(1, 20))
def test_signed_ranks_agree_with_scipy(seed: int, n: int) -> None:
    gaps = np.random.default_rng(seed).normal(0.3, 1, n)
    exact = stats.wilcoxon(gaps, method="exact").pvalue
    assert signed_rank_p(gaps) == pytest.approx(exact)
    assert signed_rank_p(-gaps) == pytest.approx(exact)


@given(st.lists(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=9))
def test_signed_ranks_with_ties_count_all_signs(gaps: list[float]) -> None:
    values = np.array([gap for gap in gaps if gap])
    if not len(values):
        assert signed_rank_p(np.array(gaps)) == 1
        return
    ranks = stats.rankdata(np.abs(values))
    signs = np.array(np.meshgrid(*[[0, 1]] * len(values))).reshape(len(values), -1)
    sums = ranks @ signs
    observed = min(ranks[values > 0].sum(), ranks[values < 0].sum())
    expected = min(1.0, 2 * np.mean(sums <= observed + 1e-9))
    assert signed_rank_p(np.array(gaps)) == pytest.approx(expected)


def test_holm_by_hand_and_monotone() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_reference_against_the_rest_or_all_pairs() -> None:
    found = wilcoxon_holm(AUC, LABELS, reference="+m")
    assert [(c.first, c.second) for c in found] == [("+m", "C4.5"), ("+m", "+cf"), ("+m", "+m+cf")]
    assert (found[0].wins, found[0].ties, found[0].losses) == (10, 2, 2)
    assert found[0].difference == pytest.approx(0.008)
    assert found[0].holm_p_value == pytest.approx(3 * found[0].p_value)
    assert len(wilcoxon_holm(AUC, LABELS)) == 6
    lower = wilcoxon_holm(AUC, LABELS, reference="+m", higher_is_better=False)
    assert (lower[0].wins, lower[0].losses) == (2, 10)


def test_caveats() -> None:
    assert friedman_caveat(14, 4) == ""
    assert "rough" in friedman_caveat(6, 4)
    assert "3 methods" in friedman_caveat(14, 2)
    assert "here is none" in friedman_caveat(0, 4)
    assert wilcoxon_caveat(6, 1) == ""
    assert "p = 0.062" in wilcoxon_caveat(5, 1)
    assert "10 tests" in wilcoxon_caveat(8, 10)
    with pytest.raises(ValueError, match="2 data sets and 3 methods"):
        friedman(AUC[:, :2], LABELS[:2])


def test_the_example_of_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[2] / "docs" / "benchmark-results.md"
    code = re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    assert code is not None
    exec(code[1], {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == re.findall(r"# (\(.*)", code[1])[0]
    assert printed[1] == "0.25"
