"""Table intake and preprocessing: encodings, missing cells, states and refused input."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from hyperdfs.errors import InputError
from hyperdfs.features import FeatureSpace
from hyperdfs.preprocess import Encoded, Preprocessor, as_table

MISSING = [None, np.nan, pd.NA, pd.NaT]

# A busy machine must not fail a property for being slow.
relaxed = settings(deadline=None, max_examples=60)

CELLS = {
    "float": st.floats(-1e100, 1e100),
    "integer": st.integers(-3, 3),
    "text": st.sampled_from(["a", "b", "c", ""]),
    "boolean": st.booleans(),
    "mixed": st.sampled_from(["a", 1, 2.5, 2.0, True]),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[pd.DataFrame, FeatureSpace]:
    """A table of object columns of all kinds with missing cells, and groups over it."""
    n_rows = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5))
    columns = {}
    for i, kind in enumerate(kinds):
        cells = draw(
            st.lists(st.none() | CELLS[kind], min_size=n_rows, max_size=n_rows).filter(
                lambda cells: any(cell is not None for cell in cells)
            )
        )
        columns[f"{kind} {i}"] = pd.Series(cells, dtype=object)
    table = pd.DataFrame(columns)
    grouped = draw(st.lists(st.sampled_from(list(table.columns)), unique=True))
    groups = {"several": grouped} if grouped else {}
    return table, FeatureSpace.from_columns(table.columns, groups=groups)


preprocessors = st.sampled_from([{}, {"n_bins": 4}, {"style": "paper"}]).map(
    lambda options: Preprocessor(**options)
)


def fitted(table: pd.DataFrame, groups: Any = None, **options: Any) -> Preprocessor:
    return Preprocessor(**options).fit(table, FeatureSpace.from_columns(table, groups=groups))


def same(a: Encoded, b: Encoded) -> bool:
    return a.values.tobytes() == b.values.tobytes() and np.array_equal(a.observed, b.observed)


def mixed_table(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "age": rng.normal(50, 12, n),
            "chol": np.exp(rng.normal(5, 1, n)),
            "sex": rng.choice(["F", "M"], n),
            "grade": rng.choice(["high", "low", "mid"], n, p=[0.2, 0.5, 0.3]),
            "smokes": rng.random(n) < 0.3,
        }
    ).astype({"smokes": object})
    return table.mask(rng.random(table.shape) < 0.1)


# ---------------------------------------------------------------- what every style keeps


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


# ---------------------------------------------------------------- default style


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
    assert not prep.known_category("c", "new")
    assert prep.known_category("c", "a")


def test_rare_and_unseen_categories_share_a_column() -> None:
    train = pd.DataFrame({"c": [*"aaabbb", "once", "single"]})
    prep = fitted(train)
    assert prep.n_columns == 3
    values = prep.transform(pd.DataFrame({"c": ["once", "single", "new", "a"]})).values
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(values[0], values[2])
    assert values[0].argmax() == 2
    assert values[3].argmax() == 0
    assert not prep.known_category("c", "once")
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


# ---------------------------------------------------------------- paper style and pixels


@relaxed
@given(st.integers(0, 10_000), st.integers(5, 60))
def test_paper_style_equals_a_scikit_learn_pipeline(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    numbers, texts = ["u", "v", "constant"], ["s", "t"]
    table = pd.DataFrame(
        {
            "u": rng.normal(5, 3, 2 * n),
            "s": pd.Series(rng.choice(["x", "y", "z"], 2 * n), dtype=object),
            "v": rng.integers(0, 4, 2 * n).astype(float),
            "t": pd.Series(rng.choice(["10", "9", "other"], 2 * n), dtype=object),
            "constant": 0.1,
        }
    ).mask(rng.random((2 * n, 5)) < 0.2)
    table.iloc[0] = [1.0, "x", 2.0, "9", 0.1]
    train, test = table.iloc[:n], table.iloc[n:]
    ordinal = make_pipeline(
        SimpleImputer(strategy="most_frequent", missing_values=np.nan), OrdinalEncoder()
    )
    for name in texts:  # the oracle has no answer to unseen categories
        test = test[test[name].isna() | test[name].isin(train[name].dropna())]
    oracle = make_pipeline(
        ColumnTransformer(
            [("n", SimpleImputer(strategy="median"), numbers), ("t", ordinal, texts)]
        ),
        StandardScaler(),
    ).fit(train)
    prep = fitted(train, style="paper")
    order = [prep.columns_of(name).start for name in numbers + texts]
    for part in (train, test):
        if len(part):
            encoded = prep.transform(part)
            assert encoded.observed.all()
            np.testing.assert_allclose(
                encoded.values[:, order], oracle.transform(part), atol=1e-5, rtol=1e-5
            )


def test_paper_style_maps_unseen_categories_and_blanks_to_the_mode() -> None:
    prep = fitted(
        pd.DataFrame({"c": ["b", "b", "a", "c"], "f": [True, True, False, None]}, dtype=object),
        style="paper",
    )
    values = prep.transform(pd.DataFrame({"c": ["new", None, "b"], "f": [None, True, True]})).values
    assert (values == values[0]).all()
    assert values[0, 1] > 0


def test_pixels_are_used_as_they_are() -> None:
    pixels = np.random.default_rng(0).random((5, 4), dtype=np.float32)
    table = as_table(pixels)
    space = FeatureSpace.from_columns(
        table.columns, groups={"left": [0, 2], "right": [1, 3]}, kind="pixels"
    )
    for style in ("default", "paper"):
        prep = Preprocessor(style=style)
        encoded = prep.fit_transform(table, space)
        np.testing.assert_array_equal(encoded.values, pixels[:, [0, 2, 1, 3]])
        np.testing.assert_array_equal(
            prep.encode_cells("right", pixels[0, [1, 3]]), pixels[0, [1, 3]]
        )
        hidden = prep.transform(table.assign(x1=np.nan, x3=np.nan))
        assert hidden.observed.tolist() == [[True, False]] * 5
        assert (hidden.values[:, 2:] == 0).all()
        assert {row["kind"] for row in prep.describe()} == {"pixels"}
        with pytest.raises(
            InputError, match=r"row 1: pixels must lie in \[0, 1\], got 255.0 .*'x2'"
        ):
            prep.transform(table.assign(x2=[0.0, 255.0, 0.0, 0.0, 0.0]))


# ---------------------------------------------------------------- intake


def test_arrays_and_lists_become_tables() -> None:
    rows = [[1, "a", None], [2, "b", 3.5]]
    for X in (rows, np.array(rows, dtype=object), tuple(map(tuple, rows))):
        table = as_table(X)
        assert list(table.columns) == ["x0", "x1", "x2"]
        assert [row["kind"] for row in fitted(table).describe()] == ["number", "category", "number"]
    texts = as_table(np.array([[1, "a"], [2, "b"]]))
    assert [row["kind"] for row in fitted(texts).describe()] == ["number", "category"]
    assert as_table(np.array([[b"x", b"1"]]))["x1"].tolist() == [1.0]
    frame = pd.DataFrame({"b": [1], "a": [2]})
    assert as_table(frame) is frame
    assert list(as_table(frame, expected=("a", "b")).columns) == ["a", "b"]
    assert list(as_table([[1, 2]], expected=("a", "b")).columns) == ["a", "b"]


@pytest.mark.parametrize(
    ("X", "kind", "fragment"),
    [
        ([1, 2, 3], ValueError, "Expected 2D array, got 1D array instead.*Reshape your data"),
        (pd.Series([1, 2]), ValueError, "Expected 2D array, got 1D array instead"),
        (3.0, ValueError, "Expected 2D array, got scalar array instead"),
        (np.zeros((2, 2, 2)), ValueError, "Found array with dim 3"),
        (sparse.csr_array(np.eye(3)), TypeError, r"Sparse data .* '.toarray\(\)'"),
        (np.ones((2, 2)) * 1j, ValueError, "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), ValueError, "Complex data not supported"),
        (np.array([[1j], [2]], dtype=object), ValueError, "Complex data not supported"),
        (np.empty((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is"),
        (np.empty((10, 0)), ValueError, r"0 feature\(s\) \(shape=\(10, 0\)\) while a minimum of 1"),
        (pd.DataFrame(index=range(2)), ValueError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        ([[1.0, 2.0], [1.0, np.inf]], ValueError, "row 1: column 'x1' holds infinity .* got inf"),
        (
            pd.DataFrame({"a": [1.0, -1e200]}),
            ValueError,
            "row 1: column 'a' holds .* beyond 1e.100",
        ),
        ([[1, 2], [3]], ValueError, "rows of X must all have the same length"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "unique, got 'a' twice"),
        (pd.DataFrame([[1, 2]], columns=["a", 0]), ValueError, "all strings or all integers"),
    ],
)
def test_intake_refuses(X: Any, kind: type[Exception], fragment: str) -> None:
    with pytest.raises(InputError, match=fragment) as caught:
        as_table(X)
    assert isinstance(caught.value, kind)


@pytest.mark.parametrize(
    ("X", "fragment"),
    [
        (pd.DataFrame({"a": [1], "c": [1]}), "missing 'b'; unexpected 'c'"),
        (pd.DataFrame({"a": [1], "b": [1], "c": [1]}), "training: unexpected 'c'"),
        ([[1, 2, 3]], "X has 3 features, but expected 2 features"),
    ],
)
def test_intake_refuses_other_columns_than_in_training(X: Any, fragment: str) -> None:
    with pytest.raises(InputError, match=fragment):
        as_table(X, expected=("a", "b"))


# ---------------------------------------------------------------- refused cells


@pytest.mark.parametrize(
    ("cells", "kind", "fragment"),
    [
        (
            pd.to_datetime(["2020-01-01"]),
            ValueError,
            "got datetime64.* in column 'a'; turn it into",
        ),
        ([datetime.date(2020, 1, 1)], ValueError, "got date in column 'a'.*e.g. days since"),
        (pd.to_timedelta(["1h"]), ValueError, "got timedelta64.* in column 'a'"),
        (pd.period_range("2020", periods=1, freq="Y"), ValueError, "got period.* in column 'a'"),
        ([None], ValueError, "column 'a' has no value in any training row; drop it"),
        ([np.nan], ValueError, "column 'a' has no value in any training row; drop it"),
        (pd.Categorical([None], ["u"]), ValueError, "column 'a' has no value"),
        (pd.array([None], "boolean"), ValueError, "column 'a' has no value"),
        ([1j], ValueError, "Complex data not supported, found in column 'a'"),
        ([{"foo": "bar"}], TypeError, "argument must be a string or a number, got dict .* 'a'"),
        ([[1, 2]], TypeError, "argument must be a string or a number, got list .* 'a'"),
        ([b"x"], TypeError, "argument must be a string or a number, got bytes .* 'a'"),
        ([np.inf], ValueError, "row 0: column 'a' holds infinity"),
        (pd.array([np.inf], "Float64"), ValueError, "column 'a' holds infinity"),
        ([10**400], ValueError, "row 0: column 'a' holds infinity or a value beyond"),
        ([], ValueError, "at least one training row"),
    ],
)
@pytest.mark.parametrize("style", ["default", "paper"])
def test_fit_refuses(cells: Any, kind: type[Exception], fragment: str, style: str) -> None:
    values = pd.Series(cells, dtype=object) if isinstance(cells, list) else cells
    with pytest.raises(InputError, match=fragment) as caught:
        fitted(pd.DataFrame({"a": values}), style=style)
    assert isinstance(caught.value, kind)


TRAIN = pd.DataFrame({"chol": [200.0, 240.0], "smokes": [True, False], "sex": ["F", "M"]})


@pytest.mark.parametrize(
    ("column", "value", "fragment"),
    [
        ("chol", "high", "'chol' must be a number, got 'high'; correct it or leave it missing"),
        ("chol", "", "'chol' must be a number, got ''"),
        ("chol", "inf", "'chol' holds infinity"),
        ("chol", 1e300, "'chol' holds infinity or a value beyond"),
        ("chol", pd.Timestamp("2020-01-01"), "'chol' must be a number, got Timestamp"),
        ("chol", 1j, "'chol' must be a number, got 1j"),
        ("smokes", "perhaps", "'smokes' must be true or false, got 'perhaps'"),
        ("smokes", 2, "'smokes' must be true or false, got 2"),
        ("sex", ("F",), "argument must be a string or a number, got tuple"),
    ],
)
def test_unreadable_cells_are_named(column: str, value: Any, fragment: str) -> None:
    prep = fitted(TRAIN)
    with pytest.raises(InputError, match=fragment):
        prep.encode_cells(column, value)
    table = pd.concat([TRAIN, TRAIN], ignore_index=True).astype(object)
    table.at[2, column] = value
    with pytest.raises(InputError, match="row 2: .*" + fragment):
        prep.transform(table)


def test_unreadable_text_column_names_its_first_bad_row() -> None:
    texts = pd.DataFrame({"chol": ["1", None, "1", "low", "low"], "smokes": True, "sex": "F"})
    with pytest.raises(InputError, match="row 3: 'chol' must be a number, got 'low'"):
        fitted(TRAIN).transform(texts)


@pytest.mark.parametrize(
    ("feature", "value", "fragment"),
    [
        ("g", 3.0, "'g' needs values for 2 columns .'p', 'q'., got 3.0; give a mapping"),
        ("g", [1, 2, 3], "needs values for 2 columns"),
        ("g", "12", "needs values for 2 columns"),
        ("g", {"pp": 1}, "feature 'g' has no column 'pp'; "),
        ("h", 1, "no feature 'h'"),
    ],
)
def test_group_values_must_fit_the_group(feature: str, value: Any, fragment: str) -> None:
    prep = fitted(pd.DataFrame({"p": [1, 2], "q": [3, 4]}), groups={"g": ["p", "q"]})
    with pytest.raises(InputError, match=fragment):
        prep.encode_cells(feature, value)


def test_transform_needs_every_training_column() -> None:
    with pytest.raises(InputError, match="lacks columns that training had: 'chol', 'sex'"):
        fitted(TRAIN).transform(TRAIN[["smokes"]])


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"style": "papre"}, "style must be one of .* got style='papre'"),
        ({"n_bins": -1}, "n_bins must be None or an integer of at least 0, got -1"),
        ({"n_bins": 2.5}, "n_bins must be None or an integer of at least 0, got 2.5"),
        ({"style": "paper", "n_bins": 3}, "style='paper' has no bins, got n_bins=3"),
    ],
)
def test_parameters_are_checked(options: dict[str, Any], fragment: str) -> None:
    with pytest.raises(InputError, match=fragment):
        Preprocessor(**options)


def test_use_before_fit_is_refused() -> None:
    for use in (
        lambda p: p.transform(TRAIN),
        lambda p: p.n_columns,
        lambda p: p.state(),
        lambda p: p.describe(),
        lambda p: p.encode_cells("chol", 1),
    ):
        with pytest.raises(InputError, match="must be fitted before use"):
            use(Preprocessor())
