"""`evaluate` reads a table as the model knows its columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hyperdfs import HyperDFSClassifier, load
from hyperdfs.cli.app import main
from hyperdfs.cli.model_table import read_for_model

QUICK = ["--set", "stage1_epochs=3", "--set", "stage2_epochs=2", "--set", "teacher_weight=0"]


def rows(n: int = 90) -> pd.DataFrame:
    """The label follows from codes that look like numbers, all but one."""
    rng = np.random.default_rng(0)
    code = rng.choice(["007", "012", "2.50", "A1"], n)
    label = np.where(np.isin(code, ["007", "2.50"]), "05", np.where(code == "012", "06", "no"))
    return pd.DataFrame(
        {"code": code, "dose": rng.integers(1, 9, n), "x": rng.normal(size=n), "label": label}
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("codes")
    rows().to_csv(folder / "rows.csv", index=False)
    args = ["train", folder / "rows.csv", "--target", "label", "--out", folder / "m.hdfs", *QUICK]
    assert main([str(arg) for arg in args]) == 0
    return folder / "m.hdfs"


def test_codes_and_labels_stay_text(model: Path, tmp_path: Path) -> None:
    sub = rows().query("code != 'A1'")
    sub.to_csv(tmp_path / "sub.csv", index=False)  # pandas alone would read numbers
    found = read_for_model(load(model), tmp_path / "sub.csv", "label")
    assert found["code"].tolist() == sub["code"].tolist()
    assert found["label"].tolist() == sub["label"].tolist()
    assert found["dose"].tolist() == sub["dose"].tolist()


def test_a_category_may_be_written_as_another_number(tmp_path: Path) -> None:
    table = rows().assign(code=lambda t: t["code"].replace({"007": "7"}))
    table.to_csv(tmp_path / "rows.csv", index=False)
    args = ["train", tmp_path / "rows.csv", "--target", "label", "--out", tmp_path / "m.hdfs"]
    assert main([str(arg) for arg in [*args, *QUICK]]) == 0
    table.assign(code=7.0).to_csv(tmp_path / "floats.csv", index=False)
    found = read_for_model(load(tmp_path / "m.hdfs"), tmp_path / "floats.csv", "label")
    assert set(found["code"]) == {"7"}


def test_categories_the_model_does_not_know_are_reported(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = rows()
    args = ["evaluate", model, tmp_path / "rows.csv", "--target", "label", "--json"]
    table.loc[: len(table) // 2, "code"] = "B9"
    table.to_csv(tmp_path / "rows.csv", index=False)
    assert main([str(arg) for arg in args]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["n_rows"] == len(table)
    assert len(err.splitlines()) == 1
    assert "warning: column 'code': 51% of its cells" in err
    assert "'B9'" in err
    rows().to_csv(tmp_path / "rows.csv", index=False)
    assert main([str(arg) for arg in args]) == 0
    assert capsys.readouterr().err == ""


def test_words_for_missing_numbers(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = rows().astype({"dose": object})
    table.loc[3, "dose"], table.loc[5, "dose"] = "?", "N.A."
    table.loc[0, "label"] = None  # a row that is left out still counts
    table.to_csv(tmp_path / "rows.csv", index=False)
    args = ["evaluate", str(model), str(tmp_path / "rows.csv"), "--target", "label"]
    assert main(args) == 0
    capsys.readouterr()
    table.loc[7, "dose"] = "much"
    table.to_csv(tmp_path / "rows.csv", index=False)
    assert main(args) == 2
    err = capsys.readouterr().err
    assert "row 8 of" in err
    assert "'dose' must be a number, got 'much'" in err


def test_words_for_missing_beside_categories_and_classes(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = rows()
    table.loc[3, "code"], table.loc[[5, 6], "label"] = "?", "NA"  # no category and no class
    table.rename(columns={"label": "truth"}).to_csv(tmp_path / "rows.csv", index=False)
    assert main(["evaluate", str(model), str(tmp_path / "rows.csv")]) == 0
    out, err = capsys.readouterr()
    assert "88 rows of" in out
    assert "2 rows without a label" in out
    assert err == ""
    found = read_for_model(load(model), tmp_path / "rows.csv", "truth")
    assert found["code"].isna().tolist() == [i == 3 for i in range(90)]


def test_semicolons_and_decimal_commas(model: Path, tmp_path: Path) -> None:
    table = rows().assign(x=lambda t: t["x"].map("{:.3f}".format).str.replace(".", ","))
    table.loc[4, "x"] = "?"
    table.to_csv(tmp_path / "rows.csv", index=False, sep=";")
    assert main(["evaluate", str(model), str(tmp_path / "rows.csv")]) == 0
    found = read_for_model(load(model), tmp_path / "rows.csv", "label")
    assert pd.to_numeric(found["x"]).isna().sum() == 1
    assert found["code"].tolist() == rows()["code"].tolist()


def test_the_model_remembers_its_target(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.csv"
    rows().assign(more=1).to_csv(path, index=False)
    assert main(["evaluate", str(model), str(path)]) == 0
    assert "target 'label'" in capsys.readouterr().out
    rows().rename(columns={"label": "truth"}).to_csv(path, index=False)
    assert main(["evaluate", str(model), str(path)]) == 0
    assert "target 'truth'" in capsys.readouterr().out
    rows().rename(columns={"label": "truth"}).assign(more=1).to_csv(path, index=False)
    assert main(["evaluate", str(model), str(path)]) == 2
    assert "--target; the table has 'truth', 'more'" in capsys.readouterr().err


def test_true_and_false_may_be_written_in_capitals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = rows().assign(label=lambda t: t["label"] == "no")
    table.to_csv(tmp_path / "rows.csv", index=False)
    args = ["train", tmp_path / "rows.csv", "--target", "label", "--out", tmp_path / "m.hdfs"]
    assert main([str(arg) for arg in [*args, *QUICK]]) == 0
    shouted = table.assign(label=table["label"].map({True: "TRUE", False: "FALSE"}))
    shouted.to_csv(tmp_path / "shouted.csv", index=False)
    assert main(["evaluate", str(tmp_path / "m.hdfs"), str(tmp_path / "shouted.csv")]) == 0
    assert "target 'label'" in capsys.readouterr().out


@pytest.mark.parametrize("gap", ["", "?"])
def test_true_and_false_with_a_gap(
    gap: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = rows().assign(label=lambda t: np.where(t["label"] == "no", "true", "false"))
    table.loc[0, "label"] = gap
    table.to_csv(tmp_path / "rows.csv", index=False)
    args = ["train", tmp_path / "rows.csv", "--target", "label", "--out", tmp_path / "m.hdfs"]
    assert main([str(arg) for arg in [*args, *QUICK]]) == 0
    assert main(["evaluate", str(tmp_path / "m.hdfs"), str(tmp_path / "rows.csv")]) == 0
    assert "89 rows of" in capsys.readouterr().out


def test_columns_may_be_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)))
    y = (X[0] > 0).astype(int)
    config = {"stage1_epochs": 1, "stage2_epochs": 1, "teacher_weight": 0.0}
    HyperDFSClassifier(2, config=config).fit(X, y).save(tmp_path / "m.hdfs")
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    assert main(["evaluate", str(tmp_path / "m.hdfs"), str(tmp_path / "rows.csv")]) == 0
    assert "target 'y'" in capsys.readouterr().out
