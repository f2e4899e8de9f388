"""Labels of a user's table: exact numbers, true and false, text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hyperdfs.datasets.table_cells import read_gaps
from hyperdfs.datasets.table_files import read_table
from hyperdfs.datasets.table_labels import labels_of, need_classes, split_target
from hyperdfs.errors import InputError

LARGE = [9007199254740993, 9007199254740992]


def labels(tmp_path: Path, *cells: object) -> np.ndarray:
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    return split_target(read_gaps(read_table(path))[0], "y")[1]


@pytest.mark.parametrize("cells", [LARGE, [*LARGE, ""]])
def test_large_whole_numbers_stay_apart(cells: list[object], tmp_path: Path) -> None:
    assert labels(tmp_path, *cells).tolist() == LARGE


def test_numbers_beyond_64_bits_stay_apart(tmp_path: Path) -> None:
    found = labels(tmp_path, 10**30, 10**30 + 1, "")
    assert found.tolist() == [str(10**30), str(10**30 + 1)]


def test_large_decimals_are_floats(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,y\n1e300,1\n,0\n0.5,1\n")
    assert read_table(tmp_path / "rows.csv")["a"].dropna().tolist() == [1e300, 0.5]


def test_a_missing_label_does_not_make_labels_floats(tmp_path: Path) -> None:
    found = labels(tmp_path, 3, "", 1)
    assert found.dtype == np.int64
    assert found.tolist() == [3, 1]


@pytest.mark.parametrize("gap", ["", "?", "NA"])
@pytest.mark.parametrize("words", [("true", "false"), ("TRUE", "FALSE")])
def test_true_and_false_beside_a_gap(gap: str, words: tuple[str, str], tmp_path: Path) -> None:
    found = labels(tmp_path, *words, gap)
    assert found.dtype == np.bool_
    assert found.tolist() == [True, False]


@pytest.mark.parametrize("cell", ["inf", "-inf", "Infinity"])
def test_infinite_labels_are_refused(cell: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'y' must hold classes, got an infinite number; correct"):
        labels(tmp_path, 0, 1, cell)


def test_integers_of_every_width() -> None:
    assert labels_of(pd.Series([1, 2**64 - 1], dtype="uint64")).tolist() == [1, 2**64 - 1]
    assert labels_of(pd.Series([1, 2], dtype="Int32")).tolist() == [1, 2]
    assert labels_of(pd.Series([1e300, 2.0])).tolist() == ["1e+300", "2.0"]


@pytest.mark.parametrize(
    "numbers",
    [
        np.random.default_rng(0).integers(0, 9999, 300),  # nearly all differ
        np.random.default_rng(0).poisson(400, 300),  # many, and few rows of each
        np.random.default_rng(0).normal(size=300),
    ],
)
def test_measured_numbers_are_no_classes(numbers: np.ndarray) -> None:
    column = pd.Series(numbers, name="price").where(np.arange(300) > 0)  # one is missing
    with pytest.raises(InputError, match=r"'price' must hold classes, got .* in 299 rows; cut"):
        need_classes(column)


@pytest.mark.parametrize(
    "labels",
    [
        np.arange(20),  # a small table
        np.arange(600) % 60,
        np.arange(300) % 3 / 2,
        np.arange(300).astype(str),  # text is meant as it is
        np.arange(300) % 2 == 0,
    ],
)
def test_classes_may_be_numbers(labels: np.ndarray) -> None:
    need_classes(pd.Series(labels))
