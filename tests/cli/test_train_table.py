"""What `train` makes of a table before it fits: rows held out, bad cells, odd columns."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hyperdfs.cli.app import main
from hyperdfs.cli.held_out import hold_out
from hyperdfs.datasets.oddities import oddities
from hyperdfs.datasets.table_cells import read_gaps
from hyperdfs.errors import InputError

QUICK = ["--set", "stage1_epochs=1", "--set", "stage2_epochs=1", "--set", "teacher_weight=0"]


def train(table: Path, *options: str) -> int:
    out = str(table.with_suffix(".hdfs"))
    return main(["train", str(table), "--target", "risk", "--out", out, *QUICK, *options])


@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.6, 0.9])
def test_as_many_rows_as_asked_are_held_out(fraction: float) -> None:
    y = np.repeat(["a", "b"], [60, 40])
    seen, unseen = hold_out(y, fraction, seed=0)
    assert len(unseen) == round(100 * fraction)
    assert sorted([*seen, *unseen]) == list(range(100))
    assert (y[unseen] == "a").sum() == round(60 * fraction)


def test_every_class_is_fitted() -> None:
    y = np.repeat(["a", "b", "rare", "once"], [80, 40, 2, 1])
    for seed in range(10):
        seen, unseen = hold_out(y, 0.9, seed)
        assert set(y[seen]) == set(y)
        assert "once" not in y[unseen]
        assert abs(len(unseen) - 111) <= 1


@pytest.mark.parametrize("y", [["a", "b"], ["a", "a", "a", "b", "b"]])
def test_too_few_rows_to_hold_out(y: list[str]) -> None:
    with pytest.raises(InputError, match=r"--test-fraction 0.8 must leave a row of every class"):
        hold_out(np.array(y), 0.8, 0)


def test_train_holds_out_more_than_half(
    table_csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(table_csv.read_bytes())
    assert train(path, "--test-fraction", "0.6", "--json", "--drop", "id") == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["n_rows"], content["held_out"]["n_rows"]) == (96, 144)


@pytest.mark.parametrize("row", range(0, 40, 5))
def test_a_bad_cell_is_told_by_its_row_before_the_fit(
    row: int,
    table_csv: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = pd.read_csv(table_csv)
    table.loc[[1, 2], "risk"] = None  # rows that are left out still count
    table.loc[row, "marker"] = np.inf
    table.to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.setattr("hyperdfs.HyperDFSClassifier.fit", None)
    assert train(tmp_path / "rows.csv") == 2
    assert f"row {row + 1} of " in capsys.readouterr().err


def test_the_model_is_saved_before_it_is_scored(
    table_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise InputError("no score")

    monkeypatch.setattr("hyperdfs.cli.scoring.score", fail)
    path = tmp_path / "rows.csv"
    path.write_bytes(table_csv.read_bytes())
    assert train(path) == 2
    assert (tmp_path / "rows.hdfs").is_file()


def odd_table(n: int = 30) -> pd.DataFrame:
    k = np.arange(n)
    return pd.DataFrame(
        {
            "Unnamed: 0": k,
            "patient": [f"p{i}" for i in k],
            "number": 1000 + 7 * k,
            "clinic": "north",
            "visit": [f"2024-03-{1 + i % 9:02}" for i in k],
            "level": ["low" if i == 4 else str(i % 5) for i in k],
            "age": ["?" if i % 9 == 0 else str(20 + i % 11) for i in k],
            "sex": np.where(k % 2, "F", "M"),
            "income": np.random.default_rng(0).permutation(n),
            "grade": np.where(k % 3, "good", "?"),
        }
    )


def test_odd_columns_are_named_with_a_remedy() -> None:
    X, gaps = read_gaps(odd_table())
    assert gaps == [
        "age: '?' counts as missing (4 of 30 cells), the others are numbers",
        "grade: '?' counts as a value (10 of 30 cells), as the others are text; leave such cells "
        "empty if they are missing",
    ]
    assert X["age"].isna().sum() == 4
    assert X["age"].max() == 30
    assert set(X["grade"]) == {"good", "?"}
    found = list(oddities(X))
    assert all(re.search(r"(ignore it with|or ignore it with) --drop \S+", line) for line in found)
    about = {line.split(": ")[0]: line for line in found}
    assert list(about) == ["Unnamed", "patient", "number", "clinic", "visit", "level"]
    assert about["Unnamed"].endswith("--drop 'Unnamed: 0'")
    assert "identifiers" in about["patient"]
    assert "row numbers" in about["number"]
    assert "never differs from 'north'" in about["clinic"]
    assert "dates" in about["visit"]
    assert "29 of 30 cells are numbers, 'low' is not" in about["level"]


@pytest.mark.parametrize(
    "cells",
    [
        ["10,377", "1,234,567.5", "12"],
        ["1.234,50", "-2.000,25", "?"],
        ["1,5", "2,25", "3"],
        ["12.3%", "4 %", "100%"],
        ["$12.3", "$1,000", "-$4"],
        ["12 €", "1 234,5 €", "7 €"],
    ],
)
def test_numbers_written_for_people_are_named(cells: list[str]) -> None:
    (line,) = oddities(pd.DataFrame({"fee": cells * 10, "x": ["a", "b", "c"] * 10}))
    assert line == (
        f"fee: numbers such as {cells[0]!r} are read as categories; write only digits and a "
        "decimal point, or ignore it with --drop fee"
    )


@pytest.mark.parametrize(
    "cells",
    [
        ["01.03.2020", "24.12.1999"],
        ["3/1/2020", "12/24/99"],
        ["2024/03/01", "2024/3/9"],
        ["2024-03-01T10:00", "?"],
        ["1-3-2020 08:15", "2-3-2020"],
    ],
)
def test_dates_are_named(cells: list[str]) -> None:
    (line,) = oddities(pd.DataFrame({"seen": cells * 10}))
    assert line.startswith("seen: dates are read as categories; turn them into numbers")


@pytest.mark.parametrize("cells", [["1.2.3", "1.2.44"], ["10.0.0.1", "10.0.0.2"], ["7-8", "9-10"]])
def test_other_digits_are_categories(cells: list[str]) -> None:
    assert list(oddities(pd.DataFrame({"version": cells * 10}))) == []


def test_shuffled_identifiers_are_named_in_tables_of_some_size() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"key": rng.permutation(200), "x": rng.normal(size=200)})
    table["gap"] = table["key"].where(table["key"] > 3)
    assert [line.split(":")[0] for line in oddities(table)] == ["key", "gap"]
    assert "if these are identifiers, ignore it with --drop key" in next(oddities(table))
    assert list(oddities(table[["key", "x"]][:50])) == []


def test_train_prints_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = odd_table(60).assign(risk=lambda t: np.where(t["sex"] == "F", "high", "low"))
    table.to_csv(tmp_path / "rows.csv", index=False)
    assert train(tmp_path / "rows.csv") == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("  note     ") for line in lines) == 8


def test_words_beside_text_are_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    k = np.arange(60)
    words = np.array(["None", "NA", "mild"])[k % 3]
    table = pd.DataFrame(
        {"a": k % 7, "b": words, "c": np.where(k % 4, "TRUE", "NA"), "risk": words}
    )
    table.to_csv(tmp_path / "rows.csv", index=False)
    assert train(tmp_path / "rows.csv", "--budget", "2") == 0
    out = capsys.readouterr().out
    assert "60 rows, 3 columns" in out
    assert "classes  NA 33%, None 33%, mild 33%" in out
    assert "risk: 'None', 'NA' count as a value (40 of 60 cells), as the others are text" in out
    assert "c: 'NA' counts as missing (15 of 60 cells), the others are true or false" in out
    model, path = str(tmp_path / "rows.hdfs"), str(tmp_path / "rows.csv")
    assert main(["evaluate", model, path, "--json", "--budgets", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["n_rows"] == 60


def test_cells_that_no_table_can_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pd.DataFrame({"a": [[1, 2]] * 40, "b": range(40), "risk": ["x", "y"] * 20})
    table.to_parquet(tmp_path / "rows.parquet")
    assert train(tmp_path / "rows.parquet") == 2
    assert "in column 'a'" in capsys.readouterr().err
