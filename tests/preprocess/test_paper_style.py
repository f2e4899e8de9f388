"""The paper's preprocessing equals a scikit-learn pipeline; pixels stay as they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prep_tables import fitted, relaxed
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from hyperdfs.errors import InputError
from hyperdfs.features import FeatureSpace
from hyperdfs.preprocess import Preprocessor, as_table


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
