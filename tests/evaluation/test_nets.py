"""Each safety net lets honest work through and catches the cheat it is made for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hyperdfs.datasets import load_dataset
from hyperdfs.estimator import DFSClassifier
from hyperdfs.evaluation.nets import (
    LEAK_ROWS,
    NetError,
    check_leaks,
    check_predictions,
    check_probabilities,
    check_purchases,
    check_split,
)
from hyperdfs.features import FeatureSpace
from hyperdfs.results import Acquisition, make_acquisition
from small_tables import TINY, mixed

BUDGET = 3


class Buyer:
    """Buys by `choose` and predicts by `predict`; both are shown the whole table and what has been
    bought, so that they can cheat."""

    def __init__(self, choose, predict):
        self.choose, self.predict = choose, predict

    def acquire(self, X, budget=None, *, known=None) -> Acquisition:
        values = X.to_numpy(float)
        known = np.zeros(values.shape, bool) if known is None else known.copy()
        order, proba = [], [self.predict(values, known)]
        for _ in range(budget):
            order.append(self.choose(values, known))
            known[np.arange(len(known)), order[-1]] = True
            proba.append(self.predict(values, known))
        return make_acquisition(np.stack(order, 1), np.stack(proba, 1), np.ones(values.shape[1]))

    def predict_proba(self, X):
        values = X.to_numpy(float)
        return self.predict(np.nan_to_num(values), ~np.isnan(values))


def two_classes(score):
    p = 1 / (1 + np.exp(-score))
    return np.stack([1 - p, p], axis=1)


def honest_choice(values, known):
    """The first feature, then by the sum of what is known."""
    turned = np.where(known, values, 0).sum(1) > 0
    open_ = np.where(known, -1.0, np.arange(known.shape[1]) * np.where(turned, 1, -1)[:, None] + 99)
    return open_.argmax(1)


def honest_prediction(values, known):
    return two_classes(np.where(known, values, 0).sum(1))


@pytest.fixture
def table():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 6)), columns=list("abcdef"))
    return X, FeatureSpace.from_columns(X.columns)


def test_an_honest_buyer_passes(table):
    X, space = table
    honest = Buyer(honest_choice, honest_prediction)
    check_leaks(honest, X, space, honest.acquire(X, BUDGET))
    check_leaks(honest, X, space, honest.acquire(X, len(space)))


def test_honest_work_is_held_up_by_one_step_a_row(table):
    X, space = table
    steps = []

    def counted(values, known):
        steps.append(len(values))
        return honest_choice(values, known)

    buyer = Buyer(counted, honest_prediction)
    path = buyer.acquire(X, BUDGET)
    steps.clear()
    check_leaks(buyer, X, space, path)
    assert steps == [LEAK_ROWS]


def test_random_orders_go_by_the_place_in_the_batch_and_pass(table):
    X, space = table
    order = np.random.default_rng(0).random((len(X), 6))

    def choose(values, known):
        return np.where(known, -1.0, order[: len(values)]).argmax(1)

    buyer = Buyer(choose, honest_prediction)
    check_leaks(buyer, X, space, buyer.acquire(X, BUDGET))


def test_a_score_that_the_model_cannot_repeat_is_caught(table):
    X, space = table
    honest = Buyer(honest_choice, honest_prediction)
    path = honest.acquire(X, BUDGET)
    check_predictions(honest, X, space, path)
    path.proba[:, 2] = [0.0, 1.0]
    with pytest.raises(NetError, match="after 2 purchases it is off by") as caught:
        check_predictions(honest, X, space, path)
    assert caught.value.net == "prediction"


@pytest.mark.parametrize("at", range(BUDGET + 1))
def test_a_prediction_that_peeks_once_is_caught(table, at):
    def peek(values, known):
        if known[0].sum() == at:
            return two_classes(values[:, -1])
        return honest_prediction(values, known)

    X, space = table
    never_last = Buyer(lambda values, known: known.argmin(1), peek)
    with pytest.raises(NetError, match="prediction must not depend"):
        check_leaks(never_last, X, space, never_last.acquire(X, BUDGET))


@pytest.mark.parametrize("at", range(BUDGET))
def test_a_choice_that_peeks_once_is_caught(table, at):
    def peek(values, known):
        if known[0].sum() == at:
            return np.where(known, -np.inf, values).argmax(1)
        return honest_choice(values, known)

    X, space = table
    buyer = Buyer(peek, honest_prediction)
    with pytest.raises(NetError, match="next purchase must not depend") as caught:
        check_leaks(buyer, X, space, buyer.acquire(X, BUDGET))
    assert caught.value.net == "leak"


def test_a_choice_by_the_value_it_buys_is_caught(table):
    """The subtle one: what it read, it has bought a moment later."""

    def peek(values, known):
        return np.where(known, -np.inf, values).argmax(1)

    X, space = table
    buyer = Buyer(peek, honest_prediction)
    with pytest.raises(NetError, match="after 0 purchases"):
        check_leaks(buyer, X, space, buyer.acquire(X, BUDGET))


def test_real_models_on_mixed_columns_groups_and_gaps_pass():
    X, y = mixed(120)
    groups = {"body": ["age", "height"]}
    clf = DFSClassifier(groups=groups, config=TINY, max_budget=4).fit(X, y)
    check_leaks(clf, X, clf.features_, clf.acquire(X, 4))
    check_predictions(clf, X, clf.features_, clf.acquire(X, 4))
    published = DFSClassifier(groups=groups, config=TINY, max_budget=4, preset="paper").fit(X, y)
    check_predictions(published, X, clf.features_, published.acquire(X, 4))
    data = load_dataset("wine")
    control = DFSClassifier("random", config=TINY).fit(data.X, data.y)
    check_leaks(control, data.X, data.features, control.acquire(data.X, 10))


def test_purchases():
    check_purchases(np.array([[0, 1], [2, 0]]), 3, 2)
    check_purchases(np.array([[0]]), 1, 1)
    with pytest.raises(NetError, match="bought twice, but test row 1") as caught:
        check_purchases(np.array([[0, 1, 2], [2, 0, 2]]), 3, 3)
    assert caught.value.net == "no_repeat"
    with pytest.raises(NetError, match="purchase 2 of test row 0 is -1") as caught:
        check_purchases(np.array([[0, -1]]), 3, 2)
    assert caught.value.net == "exact_budget"
    with pytest.raises(NetError, match="is 3, which is none of the 3 features"):
        check_purchases(np.array([[3, 1]]), 3, 2)
    with pytest.raises(NetError, match="at 2 it were 1"):
        check_purchases(np.array([[0]]), 3, 2)


@pytest.mark.parametrize("row", [[0.5, 0.6], [1.5, -0.5], [np.nan, 1.0]])
def test_probabilities(row):
    check_probabilities(np.full((2, 3, 2), 0.5))
    with pytest.raises(NetError, match="finite, not negative and sum to 1"):
        check_probabilities(np.array([[[0.5, 0.5]], [row]]))


def test_split():
    check_split(np.array([0, 3]), np.array([1, 2]), 4)
    with pytest.raises(NetError, match="1 of 2 test rows are training rows, the first is row 1"):
        check_split(np.array([0, 1, 3]), np.array([1, 2]), 4)
    with pytest.raises(NetError, match="all 4 rows, each once, got 2 and 1"):
        check_split(np.array([0, 3]), np.array([2]), 4)
    with pytest.raises(NetError, match="each once"):
        check_split(np.array([0, 3, 3]), np.array([1]), 4)
