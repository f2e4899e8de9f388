"""Every mistake of a user is one line on standard error and exit code 2."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hyperdfs.cli.app import main


def complaint(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    assert main([str(arg) for arg in args]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("hyperdfs: error: ")
    return lines[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x81\n\x00")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3,4\n")
    (tmp_path / "notes.docx").write_text("x")
    (tmp_path / "one.csv").write_text("a,y\n" + "1,no\n2,no\n" * 20)
    (tmp_path / "short.csv").write_text("age,risk\n54,high\n")
    (tmp_path / "price.csv").write_text(
        "a,y\n" + "".join(f"{i},{i / 7:.4f}\n" for i in range(1, 300))
    )
    (tmp_path / "sales.csv").write_text("a,y\n" + "".join(f"{i},{7 * i}\n" for i in range(1, 300)))
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "words.json").write_text(json.dumps({"age": "dear"}))
    (tmp_path / "wrong.json").write_text(json.dumps({"agee": 3}))
    return tmp_path


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("absent.csv", "there is none"),
        ("empty.csv", "cannot be read as a table"),
        ("binary.csv", "text in UTF-8"),
        ("ragged.csv", "cannot be read as a table"),
        ("notes.docx", ".csv, .tsv or .parquet"),
        ("one.csv", "at least two classes"),
        ("price.csv", "must hold classes, got 299 different decimal numbers"),
        ("sales.csv", "must hold classes, got 299 different whole numbers"),
    ],
)
def test_unusable_tables(
    folder: Path, capsys: pytest.CaptureFixture[str], table: str, expected: str
) -> None:
    assert expected in complaint(capsys, "train", folder / table, "--target", "y")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--target", "risc"], "did you mean 'risk'"),
        (["--target", "risk", "--drop", "twon"], "did you mean 'town'"),
        (["--target", "risk", "--drop", "risk"], "other than the target"),
        (["--target", "risk", "--out", "no/such/folder/m.hdfs"], "folder that exists"),
        (["--target", "risk", "--preset", "best"], "preset must be one of"),
        (["--target", "risk", "--method", "magic"], "method must be one of"),
        (["--target", "risk", "--method", "random", "--members", "5"], "--members goes with"),
        (["--target", "risk", "--set", "epochs"], "field=value"),
        (["--target", "risk", "--set", "epochs=3"], "did you mean"),
        (["--target", "risk", "--budget", "0"], "--budget"),
        (["--target", "risk", "--costs", "list.json"], "mapping by name"),
        (["--target", "risk", "--costs", "broken.json"], "cannot be read"),
        (["--target", "risk", "--costs", "words.json"], "must be one number"),
        (["--target", "risk", "--costs", "wrong.json"], "unknown feature 'agee'"),
        (["--target", "risk", "--groups", "words.json"], "list of column names"),
        (["--target", "risk", "--colour", "red"], "--colour"),
        ([], "--target"),
    ],
)
def test_wrong_options_of_train(
    folder: Path,
    table_csv: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    expected: str,
) -> None:
    monkeypatch.chdir(folder)
    assert expected in complaint(capsys, "train", table_csv, *options)
    assert not (folder / "model.hdfs").exists()


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["ask", "absent.hdfs"], "there is none at"),
        (["ask", "one.csv"], "hyperdfs bundle"),
        (["ask", "MODEL", "--know", "age"], "feature=value"),
        (["ask", "MODEL", "--know", "agee=3"], "did you mean 'age'"),
        (["ask", "MODEL", "--know", "age=old"], "age"),
        (["ask", "MODEL", "--know", "sex=X"], "not a category"),
        (["ask", "MODEL", "--know", "pressure=120"], "several values"),
        (["evaluate", "MODEL", "TABLE"], "--target"),
        (["evaluate", "MODEL", "TABLE", "--target", "town"], "classes seen in training"),
        (["evaluate", "MODEL", "TABLE", "--target", "sexx"], "did you mean 'sex'"),
        (["evaluate", "MODEL", "TABLE", "--target", "risk", "--budgets", "5-2"], "2-10"),
        (["evaluate", "MODEL", "TABLE", "--target", "risk", "--budgets", "90"], "exceed"),
        (["evaluate", "MODEL", "short.csv", "--target", "risk"], "no column"),
        (["demo", "--rows", "5"], "--rows"),
        (["demo", "--out", "no/such/page.html"], "folder that exists"),
        (["magic"], "magic"),
    ],
)
def test_wrong_questions(
    folder: Path,
    table_csv: Path,
    model_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    args: list[str],
    expected: str,
) -> None:
    monkeypatch.chdir(folder)
    places = {"MODEL": model_file, "TABLE": table_csv}
    assert expected in complaint(capsys, *(places.get(arg, arg) for arg in args))


def test_an_interruption_is_one_line_and_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hyperdfs.cli.screen.listing_table", interrupt)
    assert main(["methods"]) == 130
    assert capsys.readouterr().err == "hyperdfs: interrupted\n"


@pytest.mark.parametrize("args", [["datasets"], ["methods", "--json"]])
def test_a_reader_that_has_gone_is_no_error(args: list[str]) -> None:
    command = [sys.executable, "-m", "hyperdfs", *args]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_defect_is_one_line_and_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr("hyperdfs.cli.screen.listing_table", fail)
    assert main(["methods"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
