"""A live case as JSON: how it is stored, continued, and refused."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.case import Case
from hyperdfs.errors import HyperDFSError, InputError
from small_tables import fit, mixed, numbers


@pytest.fixture(scope="module")
def clf():
    X, y = mixed()
    return fit(X, y, max_budget=4, groups={"body": ["age", "height"]})


RESULTS = {
    "body": [
        {"age": np.float32(50.5), "height": np.nan},
        [50, pd.NA],
        np.array([50.5, 170]),
        pd.Series({"age": 3.5}),
        None,
    ],
    "smoker": [True, np.False_, "yes"],
    "job": ["cook", "never seen", None, np.inf],
    "visits": [np.int64(3), "3", Decimal("2.5"), 1.5],
}


FEATURES = ("body", "smoker", "job", "grade", "visits")
NAMES = st.sampled_from(["steps", "given", "feature", "value", "age", "height", *FEATURES])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
STEP = st.fixed_dictionaries(
    {"feature": NAMES | st.integers(-1, 6) | JSON},
    optional={"value": JSON | st.just("3"), "skipped": st.booleans() | JSON},
)
STORED = JSON | st.fixed_dictionaries(
    {"steps": st.lists(STEP, max_size=3) | JSON}, optional={"given": st.integers(0, 2) | JSON}
)


@pytest.mark.parametrize(
    ("feature", "value"), [(f, v) for f, values in RESULTS.items() for v in values], ids=str
)
def test_round_trip_through_json(clf, feature, value):
    case = clf.start_case().skip("grade").observe(feature, value)
    text = json.dumps(case.to_dict(), allow_nan=False)
    again = Case.from_dict(clf, json.loads(text))
    assert again.to_dict() == case.to_dict()
    assert (again.values, again.skipped) == (case.values, case.skipped)
    np.testing.assert_array_equal(again.proba, case.proba)
    assert again.recommend() == case.recommend()
    again.undo()
    assert again.values == {}


@pytest.fixture(scope="module")
def numbered():
    X, y = numbers(m=4)
    return fit(pd.DataFrame(X), y, max_budget=3, groups={"pair": [0, 2]})


@pytest.mark.parametrize(
    "value",
    [{0: 1.5, 2: -0.5}, {2: 0.5}, {np.int64(0): 1.5}, pd.Series({0: 1.5, 2: 1.0}), [1.5, None]],
    ids=str,
)
def test_columns_with_numbers_for_names_survive_json(numbered, value):
    case = numbered.start_case({1: 0.25}).observe("pair", value).skip("3")
    stored = json.loads(json.dumps(case.to_dict(), allow_nan=False))
    for content in (stored, case.to_dict()):
        again = Case.from_dict(numbered, content)
        assert again.to_dict() == case.to_dict()
        assert (again.values, again.skipped) == (case.values, case.skipped)
        np.testing.assert_array_equal(again.proba, case.proba)


def test_a_wrong_column_is_still_refused(numbered):
    for name in ("1", 1, "00"):
        with pytest.raises(InputError, match="feature 'pair' has no column"):
            numbered.start_case().observe("pair", {name: 0.5})


@pytest.mark.parametrize(
    "content",
    [
        *(None, {}, [1], {"steps": 3}, {"steps": "ab"}, {"steps": {}}, {"steps": [1]}),
        *({"steps": [{"value": 1}]}, {"steps": [{"feature": "job", "skipped": "no"}]}),
    ],
    ids=str,
)
def test_anything_else_is_refused(clf, content):
    with pytest.raises(InputError, match="stored case must be a mapping"):
        Case.from_dict(clf, content)


@pytest.mark.parametrize("given", ["x", None, -1, 2, 0.5, True, [1]], ids=str)
def test_the_number_of_steps_known_at_the_start_is_checked(clf, given):
    content = {"given": given, "steps": [{"feature": "job", "value": "cook"}]}
    with pytest.raises(InputError, match=r"'given' .* 0 to 1, got .*; pass on"):
        Case.from_dict(clf, content)


@settings(max_examples=300, deadline=None)
@given(content=STORED)
def test_any_json_is_a_case_or_refused(clf, content):
    try:
        case = Case.from_dict(clf, content)
    except HyperDFSError:
        return
    again = Case.from_dict(clf, json.loads(json.dumps(case.to_dict(), allow_nan=False)))
    assert again.to_dict() == case.to_dict()
    assert np.isfinite(case.proba).all()
