"""One live case: what it knows and what it recommends."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.case import Case
from hyperdfs.errors import InputError
from small_tables import fit, mixed, numbers

COSTS = {"body": 3.0, "smoker": 0.5, "job": 1.0, "grade": 0.0, "visits": 2.0}


@pytest.fixture(scope="module")
def clf():
    X, y = mixed()
    return fit(X, y, max_budget=4, groups={"body": ["age", "height"]}, costs=COSTS)


@pytest.fixture(scope="module")
def namesake():
    X, y = mixed()
    return fit(X[["age", "height", "job"]], y, max_budget=2, groups={"age": ["age", "height"]})


def frame(clf, **cells):
    """One row with these cells, every other one missing."""
    names = clf.feature_names_in_
    return pd.DataFrame({name: [cells.get(name)] for name in names}, dtype=object)


class TestObserve:
    def test_a_case_is_a_row_with_the_other_cells_missing(self, clf):
        case = clf.start_case(job="cook")
        np.testing.assert_allclose(
            case.proba, clf.predict_proba(frame(clf, job="cook"))[0], atol=1e-6
        )
        case.observe("body", {"age": 61.5, "height": 180}).observe("smoker", True)
        row = frame(clf, job="cook", age=61.5, height=180, smoker=True)
        np.testing.assert_allclose(case.proba, clf.predict_proba(row)[0], atol=1e-6)
        assert case.prediction == clf.predict(row)[0]
        assert case.prediction in ("sick", "well")

    def test_nothing_known(self, clf):
        case = clf.start_case()
        np.testing.assert_allclose(case.proba, clf.predict_proba(frame(clf))[0], atol=1e-6)
        assert (case.values, case.skipped, case.cost, case.done) == ({}, [], 0.0, False)

    def test_values_cost_and_order_are_kept(self, clf):
        case = clf.start_case({"grade": "low"}).skip("smoker").observe("visits", 2)
        case.observe("job", "cook")
        assert list(case.values.items()) == [("grade", "low"), ("visits", 2), ("job", "cook")]
        assert case.skipped == ["smoker"]
        assert case.cost == COSTS["visits"] + COSTS["job"]
        assert not case.done
        assert case.observe("body", [50, 170]).done

    def test_what_was_known_at_the_start_was_not_bought(self, clf):
        case = clf.start_case(visits=2, smoker=True)
        assert case.cost == 0.0
        assert case.observe("body", [50, 170]).cost == COSTS["body"]
        assert Case.from_dict(clf, case.to_dict()).cost == COSTS["body"]
        assert case.undo().undo().cost == 0.0  # back to visits alone
        assert case.observe("job", "cook").cost == COSTS["job"]

    @pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
    def test_what_is_missing_at_the_start_can_still_be_bought(self, clf, missing):
        row = pd.Series({"age": missing, "job": missing, "height": missing, "visits": 2})
        case = clf.start_case(row)
        assert (case.values, case.skipped) == ({"visits": 2}, [])
        assert case.to_dict() == clf.start_case(visits=2).to_dict()
        assert {item.feature for item in case.recommend(9)} == {"body", "smoker", "job", "grade"}
        assert case.observe("job", "cook").cost == COSTS["job"]
        assert clf.start_case(body=[50, missing]).values == {"body": [50, None]}
        with pytest.raises(InputError, match="no feature 'jib'"):
            clf.start_case(jib=missing)

    def test_a_row_of_the_table_is_a_start(self, clf):
        X, _ = mixed(4, seed=5, missing=False)
        case = clf.start_case(X.iloc[1])
        assert case.done
        np.testing.assert_allclose(case.proba, clf.predict_proba(X.iloc[[1]])[0], atol=1e-6)
        with pytest.raises(InputError, match="no feature 'age'; it is part of 'body'"):
            clf.start_case().observe("age", 50)

    @pytest.mark.parametrize(
        "start",
        [
            {"age": 50, "height": 170},
            {"age": [50, 170]},
            {"age": {"height": 170, "age": 50}},
            {"height": 170, "age": {"age": 50}},
            pd.Series({"height": 170, "age": 50}),
        ],
        ids=str,
    )
    def test_a_group_may_bear_the_name_of_its_column(self, namesake, start):
        expected = namesake.start_case().observe("age", [50, 170]).proba
        np.testing.assert_array_equal(namesake.start_case(start).proba, expected)

    def test_parts_of_a_group_beside_one_of_its_columns(self, clf):
        part = {"age": 50}
        case = clf.start_case({"body": part, "height": 170})
        assert case.values == {"body": {"age": 50, "height": 170}}
        assert part == {"age": 50}

    @pytest.mark.parametrize(
        "start",
        [
            {"body": [50, 170], "age": 50},
            {"age": 50, "body": [50, 170]},
            {"body": {"age": 50}, "age": 60},
        ],
        ids=str,
    )
    def test_a_value_given_twice_is_refused(self, clf, start):
        with pytest.raises(InputError, match=r"each value once, got 'body' as .*; leave one out"):
            clf.start_case(start)

    def test_probabilities_are_the_callers_own(self, clf):
        case = clf.start_case(job="cook")
        before = case.proba.copy()
        case.proba[:] = 0.0
        np.testing.assert_array_equal(case.proba, before)

    def test_a_case_outlives_the_next_fit_of_its_model(self):
        X, y = numbers(40)
        X = pd.DataFrame(X).add_prefix("c")
        clf = fit(X, y, max_budget=2)
        case = clf.start_case(c0=1.0)
        values, proba, best = case.values, case.proba, case.recommend(1)
        clf.fit(X.iloc[:, ::-1], y)
        assert (case.values, case.recommend(1)) == (values, best)
        np.testing.assert_array_equal(case.proba, proba)

    def test_numbered_columns_go_by_their_numbers(self):
        X, y = numbers(40)
        X = pd.DataFrame(X, columns=range(len(X.T) + 9, 9, -1))
        clf = fit(X, y, max_budget=2)
        case = clf.start_case(X.iloc[3])
        np.testing.assert_allclose(case.proba, clf.predict_proba(X.iloc[[3]])[0], atol=1e-6)
        assert clf.specialise([10]).features == ("10",)
        with pytest.raises(InputError, match="no feature 0"):
            clf.start_case().observe(0, 1.0)

    def test_positions_are_as_good_as_names(self, clf):
        by_name = clf.start_case(job="cook")
        by_position = clf.start_case().observe(2, "cook")
        np.testing.assert_array_equal(by_name.proba, by_position.proba)

    @pytest.mark.parametrize("text", ["3", " 3 ", "3.0", 3, 3.0, np.int8(3), Decimal(3)])
    def test_numbers_may_come_as_text(self, clf, text):
        np.testing.assert_array_equal(
            clf.start_case(visits=text).proba, clf.start_case(visits=3).proba
        )

    @pytest.mark.parametrize("word", ["yes", "TRUE", "1", 1, True, np.True_])
    def test_booleans_may_come_as_words(self, clf, word):
        np.testing.assert_array_equal(
            clf.start_case(smoker=word).proba, clf.start_case(smoker=True).proba
        )
        assert not np.array_equal(
            clf.start_case(smoker=word).proba, clf.start_case(smoker=False).proba
        )

    @pytest.mark.parametrize(
        "value",
        [
            {"age": 50.0, "height": 170.0},
            {"height": 170.0, "age": 50.0},
            [50.0, 170.0],
            (50, "170"),
            np.array([50.0, 170.0]),
            pd.Series({"height": 170.0, "age": 50.0}),
        ],
        ids=str,
    )
    def test_results_of_a_group(self, clf, value):
        case = clf.start_case(body=value)
        expected = clf.predict_proba(frame(clf, age=50.0, height=170.0))[0]
        np.testing.assert_allclose(case.proba, expected, atol=1e-6)

    def test_part_of_a_group_is_a_result_too(self, clf):
        case = clf.start_case(body={"age": 50})
        np.testing.assert_allclose(case.proba, clf.predict_proba(frame(clf, age=50))[0], atol=1e-6)

    @pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
    def test_a_missing_result_is_a_skip(self, clf, missing):
        case = clf.start_case().observe("job", missing).observe("body", [missing, missing])
        assert case.skipped == ["job", "body"]
        np.testing.assert_array_equal(case.proba, clf.start_case().proba)

    def test_later_changes_of_a_passed_value_do_not_reach_the_case(self, clf):
        value = {"age": 50, "height": 170}
        case = clf.start_case(body=value)
        value["age"] = 99
        assert case.values == {"body": {"age": 50, "height": 170}}

    def test_a_refused_value_changes_nothing(self, clf):
        case = clf.start_case(job="cook")
        before = case.to_dict(), case.proba
        with pytest.raises(InputError):
            case.observe("visits", "many")
        assert case.to_dict() == before[0]
        np.testing.assert_array_equal(case.proba, before[1])
        assert case.observe("visits", 2).values["visits"] == 2


class TestUndo:
    @settings(max_examples=25, deadline=None)
    @given(st.data())
    def test_undo_is_as_if_it_had_never_been(self, clf, data):
        """Any walk of observe, skip and undo equals the direct way to its last state."""
        values = {"body": [50, 170], "smoker": True, "job": "cook", "grade": "low", "visits": 2}
        case, steps = clf.start_case(), []
        for _ in range(data.draw(st.integers(0, 8))):
            free = [name for name in values if name not in dict(steps)]
            action = data.draw(st.sampled_from(["observe", "skip", "undo"]))
            if action == "undo" and steps:
                steps.pop()
                case.undo()
            elif action != "undo" and free:
                name = data.draw(st.sampled_from(free))
                steps.append((name, values[name] if action == "observe" else None))
                case.observe(*steps[-1])
            case.proba  # noqa: B018 - fills the memory that undo has to clear
        direct = clf.start_case()
        for step in steps:
            direct.observe(*step)
        assert case.to_dict() == direct.to_dict()
        assert (case.values, case.skipped) == (direct.values, direct.skipped)
        assert (case.cost, case.done) == (direct.cost, direct.done)
        np.testing.assert_array_equal(case.proba, direct.proba)
        assert case.recommend() == direct.recommend()


class TestRecommend:
    def test_the_order_is_that_of_the_simulated_purchases(self, clf):
        X, _ = mixed(12, seed=3, missing=False)
        orders = clf.acquire(X, budget=5).order
        for row, order in zip(X.to_dict("records"), orders, strict=True):
            case = clf.start_case()
            for index in order:
                name = clf.features_.names[index]
                assert case.recommend(1)[0].feature == name
                columns = clf.features_.columns[index]
                case.observe(name, [row[c] for c in columns] if len(columns) > 1 else row[name])
            assert case.recommend() is None
            assert case.done

    def test_a_list_is_ranked_and_complete(self, clf):
        case = clf.start_case(job="cook").skip("grade")
        ranked = case.recommend(k=10)
        assert sorted(r.feature for r in ranked) == ["body", "smoker", "visits"]
        assert [r.score for r in ranked] == sorted((r.score for r in ranked), reverse=True)
        assert sum(r.share for r in ranked) == pytest.approx(1.0)
        assert [r.cost for r in ranked] == [COSTS[r.feature] for r in ranked]
        shorter = case.recommend(np.int64(2))
        assert [r.feature for r in shorter] == [r.feature for r in ranked[:2]]
        assert [r.shift for r in shorter] == pytest.approx([r.shift for r in ranked[:2]], abs=1e-5)
        assert len(case.recommend()) == 3

    def test_scores_too_far_apart_for_weights_are_still_ranked(self):
        clf = fit(*numbers(40), max_budget=2)

        class Steep:
            def scores(self, x, mask):
                return mask.new_tensor([[0.0, 500.0, 300.0, 400.0]]).expand_as(mask)

        clf._state.model.selector = Steep()
        ranked = [r.feature for r in clf.start_case().recommend(4)]
        assert ranked == ["x1", "x3", "x2", "x0"]

    def test_the_reason_is_true(self, clf):
        """Buying a typical result moves the leading class within the range that is announced."""
        case = clf.start_case(job="cook")
        leading = clf.classes_.tolist().index(case.prediction)
        for r in case.recommend(5):
            assert f"P({case.prediction})" in r.why
            assert f"now {case.proba.max():.2f}" in r.why
            low, high = (float(found) for found in re.findall(r"\d\.\d\d", r.why)[:2])
            if r.feature == "smoker":
                after = [clf.start_case(job="cook", smoker=v).proba[leading] for v in (False, True)]
                assert low - 0.01 <= min(after) <= max(after) <= high + 0.01
            assert r.shift <= max(high - case.proba.max(), case.proba.max() - low) + 0.01

    def test_recommending_changes_nothing(self, clf):
        case = clf.start_case(job="cook")
        before = case.recommend(3)
        assert case.recommend(3) == before
        assert case.values == {"job": "cook"}
