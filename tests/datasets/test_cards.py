"""A user's own table: what a card says, what comes out, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hyperdfs.cli.app import main
from hyperdfs.datasets import load_dataset
from hyperdfs.datasets.table_cells import read_gaps
from hyperdfs.datasets.table_files import read_table
from hyperdfs.errors import DataNotFoundError, HyperDFSError, InputError

CARD = """
name = "clinic-2024"
target = "risk"
drop = ["id"]
categorical = ["ward"]
description = "a made-up clinic"
licence = "CC0"
source = "nowhere"

[groups]
pressure = ["systolic", "diastolic"]

[costs]
age = 0
ward = 1
pressure = 2.5
"""


def clinic() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": range(6),
            "age": [50, 61, None, 47, 55, 38],
            "ward": [3, 1, None, 3, 1, 2],
            "systolic": [120, 140, 135, 118, 160, 125],
            "diastolic": [80, 90, 85, 79, 99, 82],
            "risk": ["low", "high", "high", "low", None, "low"],
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    clinic().to_csv(tmp_path / "clinic.csv", index=False)
    (tmp_path / "clinic.toml").write_text(CARD)
    return tmp_path


def test_everything_on_the_card_arrives(folder: Path) -> None:
    data = load_dataset(str(folder / "clinic.toml"))
    assert data.name == "clinic-2024"
    assert data.class_names == ("high", "low")
    assert data.y.tolist() == [1, 0, 0, 1, 1]  # the row without a label is left out
    assert list(data.X.columns) == ["age", "ward", "systolic", "diastolic"]
    assert data.X["ward"].fillna("-").tolist() == ["3", "1", "-", "3", "2"]
    assert data.features.names == ("age", "ward", "pressure")
    assert data.costs.tolist() == [0.0, 1.0, 2.5]
    assert (data.kind, data.oracle, data.n_train) == ("table", None, None)
    assert (data.description, data.licence, data.source) == ("a made-up clinic", "CC0", "nowhere")


@pytest.mark.parametrize("end", [".csv", ".csv.gz", ".tsv", ".parquet"])
def test_every_format_gives_the_same_data_set(end: str, folder: Path) -> None:
    expected = load_dataset(folder / "clinic.toml")
    (folder / "clinic.csv").unlink()
    path = folder / f"clinic{end}"
    if end == ".parquet":
        clinic().to_parquet(path)
    else:
        clinic().to_csv(path, index=False, sep="\t" if end == ".tsv" else ",")
    for name in (path, folder / "clinic.toml"):
        assert load_dataset(name).fingerprint == expected.fingerprint


def test_the_card_may_lie_elsewhere(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cards").mkdir()
    card = tmp_path / "cards" / "other.toml"
    card.write_text('target = "risk"\nfile = "../clinic.csv"\ndrop = ["id"]')
    data = load_dataset(card)
    assert data.name == "other"
    assert data.costs.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([2, 10, 2, 10, 2, 10], ("2", "10")),
        ([1.0, 0.0, None, 1.0, 0.0, 1.0], ("0", "1")),
        ([True, False, True, False, True, True], ("False", "True")),
        (["b", "a", "c", "a", "b", "c"], ("a", "b", "c")),
    ],
)
def test_labels_of_any_type(labels: list[object], names: tuple[str, ...], folder: Path) -> None:
    clinic().assign(risk=pd.Series(labels)).to_csv(folder / "clinic.csv", index=False)
    data = load_dataset(folder / "clinic.csv")
    assert data.class_names == names
    kept = [label for label in labels if label is not None]
    decoded = [data.class_names[code] for code in data.y]
    assert decoded == [f"{x:g}" if isinstance(x, float) else str(x) for x in kept]


def test_words_for_missing_values(folder: Path) -> None:
    table = clinic().assign(note=["None", "NA", "?", "x", "x", "x"])
    table.to_csv(folder / "clinic.csv", index=False)
    card = 'target = "risk"\n'
    (folder / "clinic.toml").write_text(card)
    assert load_dataset(folder / "clinic.csv").X["note"].isna().sum() == 0  # all are words
    (folder / "clinic.toml").write_text(card + 'missing = ["", "?"]\n')
    data = load_dataset(folder / "clinic.csv")
    assert data.X["note"].fillna("-").tolist() == ["None", "NA", "-", "x", "x"]
    assert data.X["age"].dtype == np.float64


def test_a_card_reads_the_cells_as_train_does(folder: Path) -> None:
    table = clinic().assign(
        age=["50", "?", "", "47", "55", "NA"], note=["a", "?", "", "b", "-", "a"]
    )
    table.to_csv(folder / "clinic.csv", index=False)
    expected, _ = read_gaps(read_table(folder / "clinic.csv"))
    expected = expected[expected["risk"].notna()].drop(columns="risk").reset_index(drop=True)
    for more in ("", 'missing = ["-"]\n'):
        (folder / "clinic.toml").write_text(f'target = "risk"\n{more}')
        pd.testing.assert_frame_equal(load_dataset(folder / "clinic.toml").X, expected)
    (folder / "clinic.toml").write_text('target = "risk"\nmissing = ["?"]\n')
    data = load_dataset(folder / "clinic.toml")
    assert data.X["age"].fillna(0).tolist() == [50, 0, 0, 47, 0]
    assert data.X["note"].fillna("").tolist() == ["a", "", "", "b", "a"]


@pytest.mark.parametrize("end", [".csv", ".parquet"])
def test_a_number_may_stand_for_missing(end: str, folder: Path) -> None:
    table = clinic().assign(age=[50, 61, -999, 47, 55, 38], note=["a", "x", "b", "-999", "a", "a"])
    (folder / "clinic.csv").unlink()
    path = folder / f"clinic{end}"
    table.to_csv(path, index=False) if end == ".csv" else table.to_parquet(path)
    (folder / "clinic.toml").write_text('target = "risk"\nmissing = ["-999"]\n')
    data = load_dataset(folder / "clinic.toml")
    assert data.X["age"].fillna(0).tolist() == [50, 61, 0, 47, 38]
    assert data.X["note"].fillna("").tolist() == ["a", "x", "b", "", "a"]


def put(text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / "clinic.toml").write_text(text) and None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put('targt = "risk"'), r"no key 'targt'; did you mean 'target'"),
        (put('name = "x"'), r"key 'target' is wrong: Field required"),
        (put("target = 3"), r"key 'target' is wrong"),
        (put('target = "risc"'), r"no column 'risc'; did you mean 'risk'"),
        (put('target = "risk"\ndrop = ["Id"]'), r"no column 'Id'; choose from 'id'"),
        (put('target = "risk"\ndrop = ["risk"]'), r"'risk' cannot be dropped"),
        (put('target = "risk"\ncategorical = ["w"]'), r"no column 'w'"),
        (put('target = "risk"\n[groups]\np = ["systol"]'), r"'systol'.*did you mean 'systolic'"),
        (put('target = "risk"\n[groups]\np = "age"'), r"key 'groups.p' is wrong"),
        (put('target = "risk"\n[costs]\nage = 1'), r"every feature needs a cost"),
        (put('target = "risk"\n[costs]\nage = "much"'), r"key 'costs.age' is wrong"),
        (put('target = "risk"\nname = "a/b"'), r"key 'name' is wrong"),
        (put('target = "risk"\nname = "heart"'), r"catalog has a data set 'heart'.*\"my_heart\""),
        (put('target = "risk"\nfile = "gone.csv"'), r"none at .*gone.csv"),
        (put("target = "), r"cannot be read as TOML"),
        (lambda folder: (folder / "clinic.csv").unlink(), r"no clinic.csv, .tsv or .parquet"),
        (lambda folder: (folder / "clinic.toml").unlink(), r"needs a card, there is none at"),
        (
            lambda folder: clinic().assign(risk="low").to_csv(folder / "clinic.csv"),
            r"two classes or more",
        ),
        (
            lambda folder: pd.DataFrame({"id": 1, "ward": 1, "risk": range(40)}).to_csv(
                folder / "clinic.csv"
            ),
            r"'risk' must hold classes, got 40 different whole numbers",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    change: Callable[[Path], None], message: str, folder: Path
) -> None:
    change(folder)
    with pytest.raises(HyperDFSError, match=message) as error:
        load_dataset(folder / "clinic.toml")
    assert "\n" not in str(error.value)


def test_prices_of_an_own_table_stand_in_its_card(folder: Path) -> None:
    with pytest.raises(InputError, match="stand in its card"):
        load_dataset(folder / "clinic.toml", costs="published")


def test_a_table_without_card(folder: Path) -> None:
    with pytest.raises(DataNotFoundError, match=r"none at .*rows.toml; write one"):
        load_dataset(folder / "rows.csv")


def test_the_command_shows_what_was_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", str(folder / "clinic.csv"), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["class_counts"] == {"high": 2, "low": 3}
    assert content["groups"] == {"pressure": ["systolic", "diastolic"]}
    assert content["missing_cells"] == 2
    assert content["kinds"] == {
        "age": "number",
        "ward": "category",
        "systolic": "number",
        "diastolic": "number",
    }
    assert main(["datasets", str(folder / "clinic.csv")]) == 0
    out = capsys.readouterr().out
    assert "pressure: systolic, diastolic" in out
    assert "3 numbers: 'age', 'systolic', 'diastolic'" in out
    assert "1 category: 'ward'" in out


@pytest.mark.parametrize("role", ["drop", "target"])
def test_a_column_has_one_role(tmp_path: Path, role: str) -> None:
    pd.DataFrame({"a": [1, 2] * 9, "ward": [1, 2, 3] * 6}).to_csv(tmp_path / "w.csv", index=False)
    roles = {"drop": 'target = "a"\ndrop = ["ward"]', "target": 'target = "ward"'}
    (tmp_path / "w.toml").write_text(f'{roles[role]}\ncategorical = ["ward"]\n')
    with pytest.raises(InputError, match="categorical must name features, 'ward' is "):
        load_dataset(tmp_path / "w.toml")


def test_a_card_that_begins_with_a_byte_order_mark(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1, 2] * 9, "ill": [0, 1, 1] * 6}).to_csv(tmp_path / "w.csv", index=False)
    (tmp_path / "w.toml").write_text('target = "ill"\n', encoding="utf-8-sig")
    assert load_dataset(tmp_path / "w.toml").n_classes == 2


def test_what_looks_wrong_is_noted_with_the_rows_places(tmp_path: Path) -> None:
    rows = pd.DataFrame({"visit": range(20), "a": [0.5, 1.5] * 10, "ill": [0.0, 1.0] * 10})
    rows.loc[[0, 7], "ill"] = None
    rows.to_csv(tmp_path / "w.csv", index=False)
    (tmp_path / "w.toml").write_text('target = "ill"\n')
    data = load_dataset(tmp_path / "w.toml")
    assert data.file_rows == tuple(i for i in range(20) if i not in (0, 7))
    first, second = data.notes
    assert first.startswith("visit: every row has another number")
    assert first.endswith('drop = ["visit"] in the card')
    assert second == "2 of 20 rows have no label and are left out"


@pytest.mark.parametrize(("n_copies", "noted"), [(0, False), (1, False), (30, True)])
def test_many_copies_of_rows_are_noted(tmp_path: Path, n_copies: int, noted: bool) -> None:
    """Copies in both parts of a fold would be learnt by heart."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=120), "ill": rng.integers(0, 2, 120)})
    pd.concat([rows, rows[:n_copies]]).to_csv(tmp_path / "w.csv", index=False)
    (tmp_path / "w.toml").write_text('target = "ill"\n')
    found = [note for note in load_dataset(tmp_path / "w.toml").notes if "repeat" in note]
    assert bool(found) == noted
    if noted:
        assert found[0].startswith("30 of 150 rows repeat an earlier one")
