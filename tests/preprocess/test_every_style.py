"""What every style of preprocessing keeps: missing cells, states, single cases."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prep_tables import fitted, mixed_table, preprocessors, relaxed, same, tables

from hyperdfs.preprocess import Encoded, Preprocessor

MISSING = [None, np.nan, pd.NA, pd.NaT]


@relaxed
@given(tables(), preprocessors)
def test_observed_means_any_cell_present_and_zero_means_unobserved(case, prep) -> None:
    table, space = case
    encoded = prep.fit(table, space).transform(table, impute=False)
    expected = [table[list(members)].notna().any(axis=1) for members in space.columns]
    np.testing.assert_array_equal(encoded.observed, np.column_stack(expected))
    unobserved = ~encoded.observed[:, prep.column_group]
    assert (encoded.values[unobserved] == 0).all()
    assert np.isfinite(encoded.values).all()
    assert encoded.values.dtype == np.float32
    assert encoded.values.shape == (len(table), prep.n_columns)


@relaxed
@given(tables(), preprocessors)
def test_encoded_columns_belong_to_one_group_each(case, prep) -> None:
    prep.fit(*case)
    assert prep.column_group.shape == (prep.n_columns,)
    assert (np.diff(prep.column_group) >= 0).all()
    for feature in range(prep.n_features):
        inside = np.zeros(prep.n_columns, dtype=bool)
        inside[prep.columns_of(feature)] = True
        assert inside.any()
        np.testing.assert_array_equal(inside, prep.column_group == feature)


@relaxed
@given(tables(), preprocessors)
def test_one_live_case_equals_its_row_in_a_table(case, prep) -> None:
    table, space = case
    encoded = prep.fit(table, space).transform(table, impute=False)
    for row in range(len(table)):
        for feature, members in enumerate(space.columns):
            cells = [table[name].iloc[row] for name in members]
            part = prep.encode_cells(feature, cells[0] if len(cells) == 1 else cells)
            assert (part is not None) == encoded.observed[row, feature]
            if part is not None:
                expected = encoded.values[row, prep.columns_of(feature)]
                assert part.dtype == np.float32
                assert part.tobytes() == expected.tobytes()
                named = prep.encode_cells(feature, dict(zip(members, cells, strict=True)))
                np.testing.assert_array_equal(part, named)


@relaxed
@given(tables(), preprocessors)
def test_state_survives_json_and_plain_arrays(case, prep) -> None:
    table, space = case
    meta, arrays = prep.fit(table, space).state()
    assert all(array.dtype.kind in "if" for array in arrays.values())
    copied = {name: np.frombuffer(a.tobytes(), a.dtype) for name, a in arrays.items()}
    copied = {name: a.reshape(arrays[name].shape) for name, a in copied.items()}
    loaded = Preprocessor.from_state(json.loads(json.dumps(meta)), copied)
    for impute in (True, False):
        assert same(loaded.transform(table, impute=impute), prep.transform(table, impute=impute))
    assert json.dumps(loaded.describe()) == json.dumps(prep.describe())


@relaxed
@given(tables(), preprocessors, st.randoms(use_true_random=False))
def test_column_order_and_extra_columns_do_not_matter(case, prep, random) -> None:
    table, space = case
    expected = prep.fit(table, space).transform(table)
    names = list(table.columns)
    random.shuffle(names)
    assert same(prep.transform(table[names].assign(extra="?")), expected)


@relaxed
@given(tables(), preprocessors, st.data())
def test_each_row_is_encoded_by_itself(case, prep, data) -> None:
    table, space = case
    expected = prep.fit(table, space).transform(table)
    rows = data.draw(st.lists(st.integers(0, len(table) - 1), min_size=1))
    chosen = Encoded(expected.values[rows], expected.observed[rows])
    assert same(prep.transform(table.iloc[rows]), chosen)


@pytest.mark.parametrize("style", ["default", "paper"])
def test_test_rows_leave_the_state_alone(style: str) -> None:
    table = mixed_table()
    prep = fitted(table.iloc[:200], style=style)
    before = {name: array.tobytes() for name, array in prep.state()[1].items()}
    strange = table.iloc[200:].assign(age=1e6, grade="never seen")
    prep.transform(strange)
    assert {name: array.tobytes() for name, array in prep.state()[1].items()} == before
    assert same(prep.transform(table), fitted(table.iloc[:200], style=style).transform(table))


@pytest.mark.parametrize("style", ["default", "paper"])
@pytest.mark.parametrize("marker", MISSING)
def test_all_missing_markers_are_equal(style: str, marker: Any) -> None:
    cells = {"n": [1.0, 2.0, 4.0, None], "c": ["a", "b", "a", None], "b": [True, False, True, None]}
    table = pd.DataFrame(cells, dtype=object)
    marked = table.copy()
    marked.iloc[3] = pd.Series([marker] * 3, index=table.columns, dtype=object)
    prep = fitted(table, style=style)
    other = fitted(marked, style=style)
    assert other.describe() == prep.describe()
    for impute in (True, False):
        expected = prep.transform(table, impute=impute)
        assert same(other.transform(marked, impute=impute), expected)
    assert not expected.observed[3].any()
    assert all(prep.encode_cells(name, marker) is None for name in table)


def test_dtypes_of_the_same_numbers_give_the_same_columns() -> None:
    plain = pd.DataFrame({"a": [1.0, 2.0, np.nan, 5.0]})
    expected = fitted(plain).transform(plain)
    for dtype in ("Float64", "Int64", object, np.float32):
        assert same(fitted(plain).transform(plain.astype(dtype)), expected), dtype
        assert same(fitted(plain.astype(dtype)).transform(plain), expected), dtype
    decimals = pd.DataFrame({"a": [Decimal(1), Decimal(2), None, Decimal(5)]})
    assert same(fitted(decimals).transform(plain), expected)
