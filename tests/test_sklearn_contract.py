"""scikit-learn's own checks of an estimator, and the tools that build on its contract."""

from __future__ import annotations

import io
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from hyperdfs import DFSClassifier, HyperDFSClassifier
from small_tables import TINY, fit, mixed, numbers

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "training draws mini-batches and a validation split by rows, so a row of weight 2 is "
        "not bit by bit the row repeated"
    ),
}
QUICK = TINY | {"stage1_epochs": 8, "stage1_lr": 0.05, "stage1_warmup": 1, "stage2_epochs": 1}


@parametrize_with_checks(
    [
        HyperDFSClassifier(max_budget=3, config=QUICK),
        DFSClassifier("random", max_budget=3, config=QUICK),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_check(estimator, check):
    try:
        check(estimator)
    except AssertionError:
        if check.func.__name__ != "check_methods_subset_invariance":
            raise
        # It asks for 1e-7, and whether a processor keeps to that is luck.
        pytest.xfail("float32 products differ in the 7th digit with the size of the batch")


@pytest.fixture(scope="module")
def fitted():
    X, y = mixed()
    return fit(X, y, max_budget=3), X


@pytest.mark.parametrize("how", ["pickle", "joblib"])
def test_a_fitted_model_can_be_sent_to_another_process(fitted, how):
    clf, X = fitted
    stream = io.BytesIO()
    (pickle if how == "pickle" else joblib).dump(clf, stream)
    stream.seek(0)
    copy = (pickle if how == "pickle" else joblib).load(stream)
    np.testing.assert_array_equal(copy.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(copy.acquire(X).order, clf.acquire(X).order)
    assert copy.start_case(age=40).recommend(1) == clf.start_case(age=40).recommend(1)


def test_parameters_are_kept_as_given_and_can_be_set():
    costs, config = {"a": 1.0}, {"stage1_epochs": 2}
    clf = HyperDFSClassifier(7, n_members=2, costs=costs, config=config, random_state=5)
    params = clf.get_params()
    assert params["costs"] is costs
    assert params["config"] is config
    assert "method" not in params
    assert clone(clf).get_params() == params
    assert clf.set_params(max_budget=2).max_budget == 2
    with pytest.raises(ValueError, match="Invalid parameter"):
        clf.set_params(budget=2)
    assert DFSClassifier("random").get_params()["method"] == "random"


def test_the_named_class_is_the_method_of_that_name():
    X, y = numbers()
    named = HyperDFSClassifier(2, config=TINY).fit(X, y)
    by_method = DFSClassifier("hyperdfs", max_budget=2, config=TINY).fit(X, y)
    np.testing.assert_array_equal(named.predict_proba(X), by_method.predict_proba(X))


def test_search_cross_validation_and_pipeline():
    X, y = numbers(40)
    search = GridSearchCV(
        HyperDFSClassifier(config=TINY | {"stage2_epochs": 1}),
        {"max_budget": [1, 2]},
        cv=2,
        error_score="raise",
    )
    search.fit(X, y)
    assert search.best_params_["max_budget"] in (1, 2)
    model = make_pipeline(FunctionTransformer(), DFSClassifier("random", max_budget=2, config=TINY))
    scores = cross_val_score(model, X, y, cv=2, scoring="neg_log_loss", error_score="raise")
    assert np.isfinite(scores).all()
    model.fit(X, y, dfsclassifier__sample_weight=np.ones(len(X)))
    assert model.predict(X).shape == (40,)
