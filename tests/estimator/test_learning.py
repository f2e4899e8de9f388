"""What a fit learns: the variants, prices, divergence, and closeness to the truth."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from hyperdfs import HyperDFSClassifier
from hyperdfs.datasets import load_dataset
from hyperdfs.errors import HyperDFSError
from hyperdfs.training.joint_stage import JointStep
from small_tables import fit, mixed, numbers


@pytest.mark.parametrize(
    "variant",
    [
        {"encoder": "set_transformer"},
        {"encoder": "inducing_pool"},
        {"encoder": "deep_sets"},
        {"encoder": "raw_mask"},
        {"hypernetwork": False},
        {"embed_dim": None},
        {"masks_per_batch": 5},
        {"masks_per_batch": None},
        {"compress_to": 3},
        {"compress_to": 3, "compressor_sees_mask": False},
        {"replay": False},
        {"select_by": "auac"},
        {"primary": (8, 4), "hypernetwork": False},
    ],
    ids=str,
)
def test_variants_learn_the_one_feature_that_matters(variant):
    X, y = numbers(120)
    quick = {"stage1_epochs": 12, "stage1_lr": 0.02, "stage1_warmup": 1, "stage2_epochs": 1}
    clf = fit(X, y, max_budget=2, n_members=2, config=quick | variant)
    assert (clf.predict(X) == y).mean() > 0.85
    only_noise = X.copy()
    only_noise[:, 0] = np.nan
    assert (clf.predict(only_noise) == y).mean() < 0.8


def test_the_papers_preset():
    X, y = mixed()
    clf = HyperDFSClassifier(
        max_budget=3, preset="paper", config={"stage1_epochs": 2, "stage2_epochs": 1}
    ).fit(X, y)
    assert clf.config_.encoder == "set_transformer"
    assert clf._state.preprocessor.n_columns == X.shape[1]
    a = clf.acquire(X)
    assert np.isfinite(a.proba).all()
    # The paper imputes what is missing before the task starts, so every purchase gives something.
    full = a.proba[:, 1:] != a.proba[:, :-1]
    assert full.any(axis=2).mean() > 0.9


def test_few_rows_are_enough_to_buy_differently_for_different_cases():
    """The sign of the first feature is half of the label and says which other holds the rest."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    right = np.where(X[:, 0] > 0, 1, 2)
    y = 2 * (right == 1) + (X[np.arange(400), right] > 0)
    clf = HyperDFSClassifier(max_budget=2, random_state=0).fit(X[:80], y[:80])
    order = clf.acquire(X[80:]).order
    assert (order[:, 0] == 0).mean() > 0.9
    assert (order[:, 1] == right[80:]).mean() > 0.8


@pytest.mark.parametrize("steps", [1, 6])
def test_few_rows_are_passed_over_until_an_epoch_has_its_steps(steps, monkeypatch):
    """60 rows are one batch."""
    calls = []
    loss = JointStep.loss
    monkeypatch.setattr(JointStep, "loss", lambda *args: calls.append(1) or loss(*args))
    fit(*numbers(60), max_budget=2, config={"stage2_epochs": 2, "stage2_epoch_steps": steps})
    assert len(calls) == 2 * steps


def test_prices_turn_the_selector_away_from_dear_features():
    """Two copies of the one useful feature: the cheap one is bought."""
    X, y = numbers(200, m=3)
    X[:, 1] = X[:, 0]
    config = {"stage1_epochs": 15, "stage2_epochs": 15, "selector_lr": 0.01, "cost_weight": 4.0}
    for costs, first in [([1.0, 9.0, 1.0], 0), ([9.0, 1.0, 1.0], 1)]:
        clf = fit(X, y, max_budget=2, costs=costs, config=config)
        assert (clf.acquire(X).order[:, 0] == first).all()


def test_a_fit_that_cannot_but_diverge_says_so():
    X, y = numbers()
    config = {"stage1_lr": 1e30, "stage1_epochs": 4, "stage1_warmup": 0}
    with (
        pytest.warns(RuntimeWarning, match="diverged and starts again"),
        pytest.raises(HyperDFSError, match=r"diverged 3 times.*smaller stage1_lr"),
    ):
        fit(X, y, config=config)


@pytest.mark.parametrize("rate", [0.3, 1.0, 5.0])
def test_a_far_too_large_step_never_gives_nan(rate):
    X, y = numbers()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Training diverged", RuntimeWarning)
        try:
            clf = fit(X, y, config={"stage1_lr": rate, "stage1_epochs": 4, "stage1_warmup": 0})
        except HyperDFSError:  # the message is tested above
            return
    assert np.isfinite(clf.predict_proba(X)).all()
    assert np.isfinite(clf.acquire(X).proba).all()


@pytest.fixture(scope="module")
def proxysub():
    data = load_dataset("proxysub", n_samples=2000)
    config = {
        "stage1_epochs": 20,
        "stage2_epochs": 6,
        "teacher_weight": 0.0,
        "n_bins": 0,
        "token_dim": 16,
        "condition_dim": 16,
        "hyper_width": 32,
        "primary": (32,),
        "selector_hidden": (32, 32),
    }
    return data, HyperDFSClassifier(max_budget=3, config=config).fit(data.X, data.y)


def test_probabilities_come_close_to_the_exact_posterior(proxysub):
    data, clf = proxysub
    fresh = load_dataset("proxysub", seed=1, n_samples=1000)
    mask = np.random.default_rng(0).random(fresh.X.shape) < 0.5
    exact = data.oracle.posterior(fresh.X.to_numpy(), mask)
    ours = clf.predict_proba(fresh.X.where(mask))
    assert np.abs(ours - exact).mean() < 0.05


def test_the_first_purchase_is_one_of_the_informative_features(proxysub):
    data, clf = proxysub
    first = np.unique(clf.acquire(data.X).order[:, 0])
    assert {clf.features_.names[i] for i in first} <= {"x1", "x2"}


def encoded_columns(y_of_x, n=2400):
    """Columns per feature that a default fit settles on, when nobody fixes the bins."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    y = y_of_x(X)
    quick = {"stage1_epochs": 2, "stage2_epochs": 1, "teacher_weight": 0.0}
    clf = HyperDFSClassifier(max_budget=2, config=quick)
    return clf.fit(X, y)._state.shape.n_columns / 3


def test_numbers_are_bent_where_that_pays_and_straight_where_not():
    """A short trial on the validation rows decides between z-scores alone and quantile columns."""
    noise = np.random.default_rng(1).random(2400)
    wavy = encoded_columns(lambda X: (np.sin(6.0 * X[:, 0]) > 0).astype(int))
    straight = encoded_columns(
        lambda X: (noise < 1.0 / (1.0 + np.exp(-2.0 * X @ [1.0, 1.0, 1.0]))).astype(int)
    )
    assert wavy > 5
    assert straight == 1
