"""The published ceilings, recomputed from generator, posterior and policy."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from hyperdfs.datasets import dataset_info, dataset_names
from hyperdfs.datasets.ceilings import ceiling, rollout
from hyperdfs.datasets.cube import Cube
from hyperdfs.datasets.scores import bayes_macro_f1, best_macro_f1, expected_confusions
from hyperdfs.errors import InputError

ROWS = {"cube": 30_000, "cube03": 30_000, "cube_s": 30_000, "cube_s03": 30_000}


@pytest.mark.parametrize("name", dataset_names("synthetic"))
def test_ceiling_equals_the_catalog(name: str) -> None:
    found, published = ceiling(name, n=ROWS.get(name, 100_000)), dataset_info(name).ceiling
    assert published is not None
    assert abs(found.all_features_f1 - published.all_features_f1) < 0.3
    assert abs(found.auac - published.auac) < 0.3
    assert abs(found.nested_auac - published.nested_auac) < 0.3
    assert found.auac <= found.all_features_f1 + 1e-9
    assert list(found.curve) == list(range(1, 11))


@pytest.mark.parametrize(("complete", "published"), [(1, 60.77), (2, 67.52), (3, 73.08)])
def test_synpairs_by_number_of_complete_pairs(complete: int, published: float) -> None:
    family = dataset_info("synpairs").family
    assert family is not None
    oracle = family.oracle()
    X, _ = family.draw(np.random.default_rng(2), 100_000)
    truth = oracle.posterior(X, np.ones(12, dtype=bool))
    found = bayes_macro_f1(oracle.posterior(X, np.arange(12) < 2 * complete), truth)
    assert abs(found - published) < 0.3


def test_cube_greedy_information_reaches_the_published_curve() -> None:
    """Published with ties broken towards the first column and the first class."""
    family = dataset_info("cube").family
    assert isinstance(family, Cube)
    oracle = family.oracle()
    X, _ = family.draw(np.random.default_rng(4), 30_000)
    truth = oracle.posterior(X, np.ones(20, dtype=bool))
    mask, curve = np.zeros(X.shape, dtype=bool), []
    for _ in range(10):
        gain = np.where(mask, -1.0, oracle.information(oracle.posterior(X, mask)))
        tied = gain >= gain.max(axis=1, keepdims=True) - 1e-9
        mask[np.arange(len(X)), tied.argmax(axis=1)] = True
        confusions = expected_confusions(oracle.posterior(X, mask), truth)
        curve.append(best_macro_f1(confusions[:1]))
    published = [19.7, 55.9, 82.7, 91.5, 95.2, 96.2, 96.6, 96.8, 96.8, 96.9]
    assert np.allclose(curve, published, atol=0.8)
    assert abs(np.mean(curve[1:]) - 89.8) < 0.3


def test_proxysub_follows_the_arctangent_law() -> None:
    """Accuracy of the best k proxies is 1 − arctan(Λ_p^{-1/2}) / π with Λ_p = Σ σ_i⁻²."""
    family = dataset_info("proxysub").family
    assert family is not None
    oracle = family.oracle()
    X, y = family.draw(np.random.default_rng(2), 400_000)
    precision = np.cumsum(np.array([0.1, 0.5, 1.0, 2.5, 5.0]) ** -2.0)
    for k in range(1, 6):
        hits = oracle.posterior(X, np.arange(10) < k).argmax(axis=1) == y
        law = 1 - np.arctan(precision[k - 1] ** -0.5) / np.pi
        assert abs(hits.mean() - law) < 0.001


def test_expected_score_equals_the_score_of_drawn_labels() -> None:
    family = dataset_info("cube03").family
    assert family is not None
    oracle = family.oracle()
    X, y = family.draw(np.random.default_rng(3), 60_000)
    *_, mask = rollout(oracle, X, 6)
    posterior = oracle.posterior(X, mask)
    drawn = 100 * f1_score(y, posterior.argmax(axis=1), average="macro")
    truth = oracle.posterior(X, np.ones(20, dtype=bool))
    assert abs(bayes_macro_f1(posterior, truth) - drawn) < 0.7


def test_knowing_the_budget_is_worth_something_on_synpairs() -> None:
    found = ceiling("synpairs", n=40_000)
    assert 0.3 < found.auac - found.nested_auac < 1.0


def test_a_wrong_posterior_does_not_score_itself() -> None:
    truth = np.array([[0.9, 0.1], [0.2, 0.8]])
    assert bayes_macro_f1(truth, truth) > 80
    assert bayes_macro_f1(np.array([[0.0, 1.0], [1.0, 0.0]]), truth) < 20


def test_a_table_has_no_ceiling() -> None:
    with pytest.raises(InputError, match="'wine' is a table"):
        ceiling("wine")
