"""What a preprocessor refuses, and in which words."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from prep_tables import fitted

from hyperdfs.errors import InputError
from hyperdfs.features import FeatureSpace
from hyperdfs.preprocess import Preprocessor


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
        ([None], ValueError, "a value in some training row, got none in 'a'; check"),
        ([np.nan], ValueError, "a value in some training row, got none in 'a'; check"),
        (pd.Categorical([None], ["u"]), ValueError, "a value in some training row, got none"),
        (pd.array([None], "boolean"), ValueError, "a value in some training row, got none"),
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


def test_a_pixel_without_values_is_refused() -> None:
    table = pd.DataFrame({"a": [0.5, 0.1], "b": [np.nan, np.nan]})
    space = FeatureSpace.from_columns(table.columns, kind="pixels")
    with pytest.raises(InputError, match="pixel 'b' has no value in any training row; drop it"):
        Preprocessor().fit(table, space)
