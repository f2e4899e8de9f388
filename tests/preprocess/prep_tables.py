"""Tables of all kinds, and a preprocessor fitted to one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import settings
from hypothesis import strategies as st

from hyperdfs.features import FeatureSpace
from hyperdfs.preprocess import Encoded, Preprocessor

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
