"""The feature space: partition, prices, look-up and the messages of everything refused."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.errors import InputError
from hyperdfs.features import FeatureSpace

COLUMNS = ["age", "sex", "systolic", "diastolic"]
PRESSURE = {"pressure": ["diastolic", "systolic"]}


def test_columns_without_a_group_stand_alone_in_table_order() -> None:
    space = FeatureSpace.from_columns(COLUMNS, groups=PRESSURE)
    assert space.names == ("age", "sex", "pressure")
    assert space.columns == (("age",), ("sex",), ("systolic", "diastolic"))
    assert space.costs.tolist() == [1.0, 1.0, 1.0]
    assert len(space) == space.n_features == 3


@settings(deadline=None)
@given(st.data())
def test_groups_partition_the_columns(data: st.DataObject) -> None:
    columns = data.draw(st.lists(st.text(max_size=4), min_size=1, max_size=8, unique=True))
    owner = data.draw(st.lists(st.integers(-1, 2), min_size=len(columns), max_size=len(columns)))
    groups = {
        f"group {g}": [c for c, o in zip(columns, owner, strict=True) if o == g]
        for g in set(owner) - {-1}
    }
    space = FeatureSpace.from_columns(columns, groups=groups)
    flat = [column for members in space.columns for column in members]
    assert sorted(flat) == sorted(columns)
    assert len(space) == len(groups) + owner.count(-1)
    for members in space.columns:
        positions = [columns.index(column) for column in members]
        assert positions == sorted(positions)
    firsts = [columns.index(members[0]) for members in space.columns]
    assert firsts == sorted(firsts)
    for name, members in groups.items():
        assert set(space.columns[space.index(name)]) == set(members)


def test_positions_name_the_columns_of_a_plain_array() -> None:
    space = FeatureSpace.from_columns(["x0", "x1", "x2"], groups={"patch": np.array([2, 0])})
    assert space.columns == (("x0", "x2"), ("x1",))
    assert FeatureSpace.from_columns(["x0", "x1"], groups={"one": "x1"}).names == ("x0", "one")


@pytest.mark.parametrize(
    "costs",
    [
        {"pressure": 2.5, "age": 0, "sex": 1},
        pd.Series({"sex": 1.0, "age": 0.0, "pressure": 2.5}),
        [0, 1, 2.5],
        np.array([0, 1, 2.5], dtype=np.float32),
    ],
)
def test_costs_in_any_form(costs: object) -> None:
    space = FeatureSpace.from_columns(COLUMNS, groups=PRESSURE, costs=costs)  # type: ignore[arg-type]
    assert space.costs.dtype == np.float64
    assert space.costs.tolist() == [0.0, 1.0, 2.5]


def test_one_cost_for_all_and_integer_columns() -> None:
    assert FeatureSpace.from_columns(COLUMNS, costs=3).costs.tolist() == [3.0] * 4
    assert FeatureSpace.from_columns(range(2), costs={1: 5, 0: 4}).costs.tolist() == [4.0, 5.0]


def test_costs_cannot_be_changed_from_outside() -> None:
    mine = np.array([1.0, 2.0])
    space = FeatureSpace.from_columns(["a", "b"], costs=mine)
    mine[0] = 9.0
    assert space.costs[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        space.costs[0] = 9.0


def test_a_ready_space_is_checked_and_may_get_new_prices() -> None:
    ready = FeatureSpace.from_columns(COLUMNS, groups=PRESSURE, costs=[1, 2, 3], kind="pixels")
    assert FeatureSpace.from_columns(COLUMNS[::-1], groups=ready) == ready
    dearer = FeatureSpace.from_columns(COLUMNS, groups=ready, costs=[7, 8, 9])
    assert dearer.columns == ready.columns
    assert dearer.kind == "pixels"
    assert dearer.costs.tolist() == [7, 8, 9]


def test_equality_is_by_content() -> None:
    space = FeatureSpace.from_columns(COLUMNS, groups=PRESSURE, costs=[1, 2, 3])
    same = FeatureSpace.from_columns(COLUMNS, groups=PRESSURE, costs=[1, 2, 3])
    assert space == same
    assert hash(space) == hash(same)
    assert space != FeatureSpace.from_columns(COLUMNS, groups=PRESSURE, costs=[1, 2, 4])
    assert space != FeatureSpace.from_columns(COLUMNS, groups={"p": PRESSURE["pressure"]})
    assert space != "space"
    assert copy.deepcopy(space) == space == pickle.loads(pickle.dumps(space))


@pytest.mark.parametrize("columns", [COLUMNS, range(4)])
def test_round_trip_through_json(columns: object) -> None:
    space = FeatureSpace.from_columns(columns, costs=[0.1, 1 / 3, 2, 5])  # type: ignore[arg-type]
    assert FeatureSpace.from_dict(json.loads(json.dumps(space.to_dict()))) == space


def test_index_takes_names_and_positions() -> None:
    space = FeatureSpace.from_columns(COLUMNS)
    assert [space.index(name) for name in COLUMNS] == [0, 1, 2, 3]
    assert space.index(np.int64(2)) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("feature", "fragment"),
    [
        ("systolik", "no feature 'systolik'; did you mean 'systolic'"),
        ("zzz", "choose from 'age', 'sex'"),
        (4, "must be in 0..3, got 4"),
        (-1, "must be in 0..3, got -1"),
        (True, "by name or position, got True"),
        (1.0, "by name or position, got 1.0"),
    ],
)
def test_index_refuses_what_is_no_feature(feature: object, fragment: str) -> None:
    with pytest.raises(InputError, match=fragment):
        FeatureSpace.from_columns(COLUMNS).index(feature)  # type: ignore[arg-type]


READY = FeatureSpace.from_columns(COLUMNS)


@pytest.mark.parametrize(
    ("columns", "options", "fragment"),
    [
        (COLUMNS, {"groups": {"g": ["agge"]}}, "'agge', which is no column.*did you mean 'age'"),
        (COLUMNS, {"groups": {"g": [0]}}, "names 0, which is no column"),
        (["x0", "x1"], {"groups": {"g": [2]}}, "names 2, which is no column"),
        (COLUMNS, {"groups": {"g": [["age"]]}}, "which is no column"),
        (COLUMNS, {"groups": {"g": ["age"], "h": ["age"]}}, "'age' in 'g' and 'h'"),
        (COLUMNS, {"groups": {"g": ["age", "age"]}}, "belongs to one group only, got 'age'"),
        (COLUMNS, {"groups": {"g": []}}, "'g' must have at least one column"),
        (COLUMNS, {"groups": {"age": ["sex"]}}, "'age' has the name of a column outside it"),
        (COLUMNS, {"groups": {5: ["sex"]}}, "a group name must be a string, got 5"),
        (COLUMNS, {"groups": [["age", "sex"]]}, "groups must map a name to its columns, got list"),
        (COLUMNS[:3], {"groups": READY}, "columns that the table lacks: 'diastolic'"),
        ([*COLUMNS, "new"], {"groups": READY}, "does not cover every column: 'new'"),
        (COLUMNS, {"costs": {"agge": 1}}, "unknown feature 'agge'; did you mean 'age'"),
        (COLUMNS, {"costs": {"age": 1, "sex": 1}}, "got none for 'systolic', 'diastolic'"),
        (COLUMNS, {"costs": [1, 2, 3]}, r"one value per feature \(4\), got 3"),
        (COLUMNS, {"costs": [1, 2, -3, 4]}, "'systolic' must be a finite number .* got -3"),
        (COLUMNS, {"costs": [1, np.nan, 3, 4]}, "cost of feature 'sex' .* got nan"),
        (COLUMNS, {"costs": [np.inf, 2, 3, 4]}, "cost of feature 'age' .* got inf"),
        (COLUMNS, {"costs": ["1", 2, 3, 4]}, "cost of feature 'age' .* got '1'"),
        (COLUMNS, {"costs": "cheap"}, "cost of feature 'age' .* got 'cheap'"),
        (COLUMNS, {"costs": pd.Series([1, 2], ["age", "age"])}, "got 'age' twice"),
        (["a", "b", "a"], {}, "column names must be unique, got 'a' twice"),
        (["a", 1], {}, "all strings or all integers, got int and str"),
        ([("a", "b")], {}, "all strings or all integers, got tuple"),
        ([True, False], {}, "all strings or all integers, got bool"),
        ([], {}, "at least one column"),
        (COLUMNS, {"kind": "sound"}, "kind must be one of .*kind='sound'"),
    ],
)
def test_bad_input_is_named(columns: list[object], options: dict, fragment: str) -> None:
    with pytest.raises(InputError, match=fragment):
        FeatureSpace.from_columns(columns, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "columns", "fragment"),
    [
        (("a", "a"), (("p",), ("q",)), "feature names must be unique, got 'a' twice"),
        (("a", "b"), (("p",), ("p",)), "got 'p' in 'a', 'b'"),
        (("a",), (("p",), ("q",)), "got 1 names and 2"),
    ],
)
def test_the_constructor_checks_the_partition(
    names: tuple[str, ...], columns: tuple[tuple[str, ...], ...], fragment: str
) -> None:
    with pytest.raises(InputError, match=fragment):
        FeatureSpace(names, columns, np.ones(len(names)))
