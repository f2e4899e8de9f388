"""Posteriors against brute force and the contract; policies; none may read unobserved values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, ndtri
from scipy.stats import qmc

from hyperdfs.datasets import dataset_info, dataset_names
from hyperdfs.datasets.base import FloatArray, Oracle
from hyperdfs.errors import InputError

SYNTHETIC = dataset_names("synthetic")


def l1(x: FloatArray, c: float = 1.0) -> FloatArray:
    return c * x[0] * x[1]


def l2(x: FloatArray, c: float = 1.0, offset: float = -4.0) -> FloatArray:
    return c * (x[2] ** 2 + x[3] ** 2 + x[4] ** 2 + x[5] ** 2) + offset


def l3(x: FloatArray, offset: float = -2.4) -> FloatArray:
    return -10 * np.sin(0.2 * x[6]) + np.abs(x[7]) + x[8] + np.exp(-x[9]) + offset


def l3_paper(x: FloatArray) -> FloatArray:
    return -10 * np.sin(2 * x[6]) + 2 * np.abs(x[7]) + x[8] + np.exp(-x[9])


def pairs(x: FloatArray) -> FloatArray:
    return x[0] * x[1] + x[2] * x[3] + x[4] * x[5]


def gated(x: FloatArray, below: FloatArray, above: FloatArray) -> FloatArray:
    return np.where(x[10] < 0, below, above)


# P(y=1|x) written out a second time, from the formulas and not from the package.
P1 = {
    "synpairs": lambda x: expit(pairs(x)),
    "sim1r": lambda x: expit(1.5 * x[:6].sum(axis=0)),
    "sim2r": lambda x: expit(pairs(x)),
    "syn1": lambda x: expit(-l1(x)),
    "syn2": lambda x: expit(-l2(x)),
    "syn3": lambda x: expit(-l3(x)),
    "syn3_paper": lambda x: expit(-l3_paper(x)),
    "syn4": lambda x: expit(-gated(x, l1(x), l2(x))),
    "syn5": lambda x: expit(-gated(x, l1(x), l3(x))),
    "syn6": lambda x: expit(-gated(x, l2(x), l3(x))),
    "syn5_paper": lambda x: expit(-gated(x, l1(x), l3_paper(x))),
    "syn6_paper": lambda x: expit(-gated(x, l2(x), l3_paper(x))),
    "sefa1": lambda x: expit(-gated(x, l1(x, 4.0), l2(x, 1.2, -4.2))),
    "sefa2": lambda x: expit(-gated(x, l1(x, 4.0), l3(x))),
    "sefa3": lambda x: expit(-gated(x, l2(x, 1.2, -4.2), l3(x))),
    "sim3r": lambda x: expit(-gated(x, l1(x), l3(x, 0.0))),
}


def sample(name: str, n: int, seed: int = 7) -> tuple[Oracle, FloatArray, np.ndarray]:
    family = dataset_info(name).family
    assert family is not None
    return family.oracle(), *family.draw(np.random.default_rng(seed), n)


def random_mask(shape: tuple[int, int], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random(shape) < rng.random((shape[0], 1))


@pytest.fixture(scope="module")
def normals() -> FloatArray:
    """131 072 scrambled Sobol points: closer to the expectation than a million random draws."""
    points = qmc.Sobol(12, rng=np.random.default_rng(99)).random_base2(17)
    return np.ascontiguousarray(ndtri(points).T)


@pytest.mark.parametrize("name", sorted(P1))
def test_logit_posterior_equals_brute_force(name: str, normals: FloatArray) -> None:
    oracle, X, _ = sample(name, 5)
    mask = random_mask(X.shape, seed=len(name))
    mask[0] = False
    for x, seen, p in zip(X, mask, oracle.posterior(X, mask)[:, 1], strict=True):
        draws = normals[: X.shape[1]].copy()
        draws[seen] = x[seen, None]
        assert abs(p - P1[name](draws).mean()) < 5e-4


@pytest.mark.parametrize("name", sorted(P1))
def test_complete_rows_have_the_written_probability(name: str) -> None:
    oracle, X, _ = sample(name, 1_000)
    p = oracle.posterior(X, np.ones(X.shape[1], dtype=bool))[:, 1]
    assert np.allclose(p, P1[name](X.T), atol=1e-12)


def test_half_open_pairs_are_exact_to_four_digits() -> None:
    """E σ(a + sZ) by dense quadrature, for small and very large s."""
    oracle, X, _ = sample("sefa1", 50)
    X[:, 0] = np.linspace(-5, 5, 50)
    mask = np.isin(np.arange(11), [0, 2, 3, 10])
    X[:, 10] = -1.0
    assert np.allclose(oracle.posterior(X, mask)[:, 1], 0.5, atol=1e-5)
    oracle, X, _ = sample("synpairs", 50)
    mask = np.isin(np.arange(12), [0, 2, 3, 4, 5])
    X[:, 0] = np.linspace(-5, 5, 50)
    z = np.linspace(-9, 9, 20_001)
    weight = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    known = (X[:, 2] * X[:, 3] + X[:, 4] * X[:, 5])[:, None]
    truth = expit(known + X[:, :1] * z) @ weight
    assert np.allclose(oracle.posterior(X, mask)[:, 1], truth, atol=1e-5)


def test_proxysub_posterior_equals_regression_of_the_hidden_value() -> None:
    oracle, X, y = sample("proxysub", 400_000)
    mask = np.isin(np.arange(10), [1, 3, 7])
    p = oracle.posterior(X, mask)[:, 1]
    bins = np.digitize(p, np.linspace(0.1, 0.9, 9))
    for k in range(10):
        rows = bins == k
        assert abs(y[rows].mean() - p[rows].mean()) < 4 * 0.5 / np.sqrt(rows.sum())


@pytest.mark.parametrize("name", ["cube", "cube03", "cube_s", "cube_s03"])
def test_cube_posterior_is_bayes_rule(name: str) -> None:
    oracle, X, _ = sample(name, 40)
    mask = random_mask(X.shape, seed=2)
    sd, uniform = 0.3 if "03" in name else 0.1, "_s" in name

    def normal(x: float, mean: float, scale: float) -> float:
        return float(np.exp(-0.5 * ((x - mean) / scale) ** 2) / scale / np.sqrt(2 * np.pi))

    for x, seen, posterior in zip(X, mask, oracle.posterior(X, mask), strict=True):
        joint = np.ones(8)
        for c in range(8):
            for j in np.flatnonzero(seen):
                if c <= j <= c + 2:
                    joint[c] *= normal(x[j], (c >> (j - c)) & 1, sd)
                else:
                    joint[c] *= float(0 <= x[j] < 1) if uniform else normal(x[j], 0.5, 0.3)
        assert np.allclose(posterior, joint / joint.sum(), atol=1e-9)


@pytest.mark.parametrize("name", ["cube", "cube03", "cube_s03"])
def test_cube_information_equals_brute_force(name: str) -> None:
    oracle, X, _ = sample(name, 6)
    mask = random_mask(X.shape, seed=4) & (np.arange(20) < 5)
    posterior = oracle.posterior(X, mask)
    gain = oracle.information(posterior)  # type: ignore[attr-defined]
    family = dataset_info(name).family
    assert family is not None
    fresh, y = family.draw(np.random.default_rng(1), 60_000)
    rows = np.arange(len(y))
    for prior, found in zip(posterior, gain, strict=True):
        # Only column 6 of the fresh rows is used; given the class it is independent of x_S.
        updated = prior * oracle.posterior(fresh, np.arange(20) == 6)
        updated /= updated.sum(axis=1, keepdims=True)
        possible = prior[y] > 1e-12
        seen = updated[rows, y][possible] / prior[y][possible]
        # I(y; x_6) = E log p(y|x_6)/p(y), with weights that turn uniform classes into the prior.
        assert abs((8 * prior[y][possible] * np.log(seen)).sum() / len(y) - found[6]) < 0.015
    assert np.all(gain[:, 10:] == 0)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_unobserved_values_are_never_read(name: str) -> None:
    oracle, X, _ = sample(name, 300)
    mask = random_mask(X.shape, seed=5)
    mask[:3] = False
    hidden = np.where(mask, X, np.nan)
    other = np.where(mask, X, 1e3)
    assert np.array_equal(oracle.posterior(hidden, mask), oracle.posterior(other, mask))
    assert np.array_equal(oracle.policy(hidden, mask), oracle.policy(other, mask))


@pytest.mark.parametrize("name", SYNTHETIC)
def test_posterior_is_a_calibrated_distribution(name: str) -> None:
    oracle, X, y = sample(name, 40_000)
    p = oracle.posterior(X, random_mask(X.shape, seed=6))
    assert np.allclose(p.sum(axis=1), 1.0)
    assert p.min() >= 0
    shares = np.bincount(y, minlength=p.shape[1]) / len(y)
    # The mean of y - p has at most the variance of y.
    assert np.all(np.abs(p.mean(axis=0) - shares) < 4 * np.sqrt(shares * (1 - shares) / len(y)))
    sure = p.max(axis=1) > 0.7
    hits = p.argmax(axis=1)[sure] == y[sure]
    assert abs(hits.mean() - p.max(axis=1)[sure].mean()) < 4 * 0.5 / np.sqrt(sure.sum())


@pytest.mark.parametrize("name", SYNTHETIC)
def test_policy_buys_every_feature_once(name: str) -> None:
    oracle, X, _ = sample(name, 50)
    mask = np.zeros(X.shape, dtype=bool)
    rows = np.arange(len(X))
    for _ in range(X.shape[1]):
        pick = oracle.policy(X, mask)
        assert not mask[rows, pick].any()
        mask[rows, pick] = True
    assert np.all(oracle.policy(X, mask) == -1)


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(SYNTHETIC),
    seed=st.integers(0, 2**32 - 1),
)
def test_policy_from_any_mask_picks_an_unobserved_feature(name: str, seed: int) -> None:
    oracle, X, _ = sample(name, 20, seed)
    mask = random_mask(X.shape, seed)
    pick = oracle.policy(X, mask)
    full = mask.all(axis=1)
    assert np.array_equal(pick == -1, full)
    assert not mask[np.flatnonzero(~full), pick[~full]].any()


def test_policies_start_where_they_should() -> None:
    empty = np.zeros(11, dtype=bool)
    for name in ("syn4", "syn5", "syn6", "sefa1", "sim3r"):
        oracle, X, _ = sample(name, 3)
        assert oracle.policy(X, empty).tolist() == [10, 10, 10]
    oracle, X, _ = sample("syn5", 2)
    X[:, 10] = [-1.0, 1.0]
    first, second = oracle.policy(X, np.arange(11) == 10)
    assert first in (0, 1)
    assert second == 6  # the sine is the strongest term of L3


def test_pairs_policy_completes_the_largest_known_member() -> None:
    oracle, X, _ = sample("synpairs", 2)
    X[:, :6] = [[0.1, 0, 2.0, 0, 0.3, 0], [0.1, 0, 0.2, 0, 0, 0]]
    mask = np.isin(np.arange(12), [0, 2, 4]) & np.array([[True], [True]])
    mask[1, 4] = False
    assert oracle.policy(X, mask).tolist() == [3, 4]


def test_wrong_shapes_are_named() -> None:
    oracle, X, _ = sample("syn1", 4)
    with pytest.raises(InputError, match=r"\(4, 11\).*\(3,\)"):
        oracle.posterior(X, np.ones(3, dtype=bool))
