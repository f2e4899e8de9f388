"""The default style: bounded numbers, bins, categories, blanks, and how cells are read."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prep_tables import fitted, mixed_table, relaxed, same

from hyperdfs.preprocess import as_table


def test_training_columns_have_mean_zero_and_bounded_values() -> None:
    table = mixed_table(2000).assign(wild=lambda t: np.exp(4 * np.sin(np.arange(len(t)))))
    table["rare"] = np.where(np.arange(2000) % 500 == 0, "yes", "no")
    prep = fitted(table)
    encoded = prep.transform(table)
    np.testing.assert_allclose(encoded.values.mean(axis=0), 0, atol=1e-5)
    assert np.abs(encoded.values).max() < 6
    extreme = prep.transform(table.assign(age=1e99, chol=-1e99, wild=1e99))
    assert np.abs(extreme.values).max() < 6


def test_an_absurd_cell_does_not_flatten_the_others() -> None:
    clean = np.random.default_rng(0).normal(size=500)
    spoilt = clean.copy()
    spoilt[7] = 1e12
    z = [fitted(pd.DataFrame({"a": x}), n_bins=0).transform(pd.DataFrame({"a": clean})).values
         for x in (clean, spoilt)]  # fmt: skip
    np.testing.assert_allclose(z[0], z[1], atol=0.2)


def test_bins_are_the_piecewise_linear_encoding_between_quantiles() -> None:
    x = np.random.default_rng(1).gamma(2.0, size=400)
    prep = fitted(pd.DataFrame({"a": x}), n_bins=6)
    edges = np.quantile(x, np.linspace(0, 1, 7))
    grid = np.linspace(edges[0], edges[-1], 301)
    values = prep.transform(pd.DataFrame({"a": grid})).values.astype(float)
    assert values.shape == (301, 7)
    low, high = values[0, 1:], values[-1, 1:]
    for k in range(6):
        expected = np.interp(grid, edges[k : k + 2], [0.0, 1.0])
        np.testing.assert_allclose(
            (values[:, k + 1] - low[k]) / (high[k] - low[k]), expected, atol=1e-6
        )


@relaxed
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=60),
    st.lists(st.floats(-1e7, 1e7), min_size=2, max_size=20),
    st.integers(0, 8),
)
def test_numbers_keep_their_order_in_every_column(train, test, n_bins) -> None:
    prep = fitted(pd.DataFrame({"a": train}), n_bins=n_bins)
    assert prep.n_columns <= n_bins + 1
    values = prep.transform(pd.DataFrame({"a": np.sort(test)})).values
    assert (np.diff(values, axis=0) >= 0).all()


@pytest.mark.parametrize("style", ["default", "paper"])
def test_differences_too_fine_to_divide_by_count_as_none(style: str) -> None:
    table = pd.DataFrame({"a": [0.0, 5e-324, 1e-200, 3e-200] * 20})
    values = fitted(table, style=style).transform(pd.DataFrame({"a": [1e-200, 1e99]})).values
    assert np.isfinite(values).all()
    assert abs(values[0, 0]) < 1e-6


def test_few_distinct_values_get_one_step_each() -> None:
    table = pd.DataFrame({"rooms": np.repeat([1, 2, 3, 7], 30)})
    prep = fitted(table)
    assert prep.n_columns == 1 + 3
    levels = prep.transform(pd.DataFrame({"rooms": [1, 2, 3, 7]})).values[:, 1:]
    steps = np.diff(levels, axis=0)
    np.testing.assert_array_equal(steps > 0.5, np.eye(3, dtype=bool))


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "bins"),
    [(49, 1, 0), (50, 1, 4), (200, 1, 10), (5000, 1, 24), (100, 201, 0), (100, 200, 5)],
)
def test_number_of_bins_follows_the_training_rows(n_rows: int, n_columns: int, bins: int) -> None:
    table = as_table(np.random.default_rng(0).normal(size=(n_rows, n_columns)))
    assert fitted(table).n_columns == n_columns * (1 + bins)


def test_a_constant_column_is_neutral() -> None:
    table = pd.DataFrame({"number": [0.1] * 60, "text": ["same"] * 60, "flag": [True] * 60})
    for style in ("default", "paper"):
        encoded = fitted(table, style=style).transform(table)
        assert encoded.observed.all()
        assert (encoded.values == 0).all()


def test_categories_are_centred_one_hot_columns() -> None:
    table = pd.DataFrame({"c": ["a"] * 50 + ["b"] * 30 + ["c"] * 20, "b": [True, False] * 50})
    prep = fitted(table)
    values = prep.transform(table).values
    share = np.array([0.5, 0.3, 0.2])
    one_hot = (table["c"].to_numpy()[:, None] == np.array(["a", "b", "c"])).astype(float)
    expected = (one_hot - share) / np.sqrt(share * (1 - share))
    np.testing.assert_allclose(values[:, prep.columns_of("c")], expected, rtol=1e-6)
    np.testing.assert_allclose(values[:, prep.columns_of("b")].ravel(), [1, -1] * 50)


def test_an_unseen_category_is_observed_but_neutral() -> None:
    prep = fitted(pd.DataFrame({"c": list("aabbcc")}))
    encoded = prep.transform(pd.DataFrame({"c": ["new", None]}))
    assert encoded.observed.tolist() == [[True], [False]]
    assert (encoded.values == 0).all()


def test_rare_and_unseen_categories_share_a_column() -> None:
    train = pd.DataFrame({"c": [*"aaabbb", "once", "single"]})
    prep = fitted(train)
    assert prep.n_columns == 3
    values = prep.transform(pd.DataFrame({"c": ["once", "single", "new", "a"]})).values
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(values[0], values[2])
    assert values[0].argmax() == 2
    assert values[3].argmax() == 0
    assert "once" not in json.dumps(prep.state()[0])


def test_at_most_32_categories_get_their_own_column() -> None:
    labels = [f"c{i:02}" for i in range(40) for _ in range(2 + (i >= 10))]
    prep = fitted(pd.DataFrame({"c": labels}))
    assert prep.n_columns == 32 + 1
    kept = prep.describe()[0]["categories"]
    assert kept == [f"c{i:02}" for i in (0, 1, *range(10, 40))]


def test_rare_means_a_thousandth_in_large_tables() -> None:
    labels = ["a"] * 4991 + ["four"] * 4 + ["five"] * 5
    assert fitted(pd.DataFrame({"c": labels})).describe()[0]["categories"] == ["a", "five"]


def test_a_blank_cell_in_a_measured_group_is_told_apart_from_the_mean() -> None:
    table = pd.DataFrame({"p": [1.0, 2.0, np.nan, np.nan], "q": [4.0, 5.0, 6.0, np.nan]})
    prep = fitted(table, groups={"g": ["p", "q"]})
    assert prep.n_columns == 3  # p, blank p and q, which is blank only when nothing is measured
    encoded = prep.transform(table)
    assert encoded.observed.ravel().tolist() == [True, True, True, False]
    assert encoded.values[2, 0] == 0
    np.testing.assert_allclose(encoded.values[:, 1], [-0.70710678, -0.70710678, 1.41421356, 0])
    assert (encoded.values[3] == 0).all()
    assert prep.encode_cells("g", {"q": 5.0}) is not None
    assert prep.encode_cells("g", None) is None
    assert prep.encode_cells("g", {}) is None


def test_kinds_are_inferred() -> None:
    table = pd.DataFrame(
        {
            "int": [1, 2],
            "nullable": pd.array([1, None], dtype="Int64"),
            "object number": pd.Series([1, 2.5], dtype=object),
            "bool or number": pd.Series([True, 3], dtype=object),
            "bool": [True, False],
            "nullable bool": pd.array([True, None], dtype="boolean"),
            "object bool": pd.Series([None, True], dtype=object),
            "text": ["a", "b"],
            "digits": ["02139", "10115"],
            "categorical": pd.Categorical([3, 1]),
            "mixed": pd.Series(["a", 1], dtype=object),
        }
    )
    kinds = {row["name"]: row["kind"] for row in fitted(table).describe()}
    assert kinds == {
        **dict.fromkeys(["int", "nullable", "object number", "bool or number"], "number"),
        **dict.fromkeys(["bool", "nullable bool", "object bool"], "boolean"),
        **dict.fromkeys(["text", "digits", "categorical", "mixed"], "category"),
    }


def test_describe_has_what_a_form_needs() -> None:
    table = pd.DataFrame({"a": [3.0, 1.0, 2.0, None], "b": [True] * 4, "c": ["v", "u", "v", "u"]})
    rows = fitted(table, groups={"g": ["a", "c"]}).describe()
    assert rows == [
        {"name": "a", "feature": "g", "kind": "number", "min": 1.0, "median": 2.0, "max": 3.0},
        {"name": "c", "feature": "g", "kind": "category", "categories": ["u", "v"]},
        {"name": "b", "feature": "b", "kind": "boolean", "categories": [False, True]},
    ]


def test_text_is_read_as_the_column_needs_it() -> None:
    table = pd.DataFrame({"n": [1.0, 2.0, 240.0], "b": [True, False, True]})
    prep = fitted(table)
    for typed, meant in ((" 240 ", 240), ("2.4e2", 240), (Decimal(2), 2), (np.float32(2), 2)):
        np.testing.assert_array_equal(prep.encode_cells("n", typed), prep.encode_cells("n", meant))
    for typed, meant in (("Yes", True), (1, True), ("f", False), (0.0, False), (np.False_, False)):
        np.testing.assert_array_equal(prep.encode_cells("b", typed), prep.encode_cells("b", meant))
    assert not np.array_equal(prep.encode_cells("b", "yes"), prep.encode_cells("b", "no"))
    text = pd.DataFrame({"n": ["1", "2", "240"], "b": ["true", "FALSE", "y"]})
    assert same(prep.transform(text), prep.transform(table))


def test_integer_categories_survive_becoming_floats() -> None:
    prep = fitted(pd.DataFrame({"c": pd.Categorical([1, 2, 10, 10, 1, 2])}))
    assert prep.describe()[0]["categories"] == ["1", "2", "10"]
    as_float = prep.transform(pd.DataFrame({"c": [1.0, np.nan, 10.0]}))
    np.testing.assert_array_equal(as_float.values[2], prep.encode_cells("c", 10))
    np.testing.assert_array_equal(as_float.values[2], prep.encode_cells("c", "10"))
    assert as_float.observed.ravel().tolist() == [True, False, True]
