"""`hyperdfs bench` as a user runs it, kills it, interrupts it and runs it again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from bench_cells import InlineEngine, same_cells
from hyperdfs.bench.cells import cell_paths, read_records
from hyperdfs.bench.choices import choose
from hyperdfs.bench.plan import cells, read_plan
from hyperdfs.bench.runner import run
from hyperdfs.cli.app import main

COMMAND = [sys.executable, "-c", "import sys; from hyperdfs.cli.app import main; sys.exit(main())"]
PLAN = """
datasets = ["wine"]
folds = 6

[variants.tiny]
method = "hyperdfs"
config = {stage1_epochs = 3, stage2_epochs = 2, teacher_weight = 0.0, primary = [8]}
"""
PATIENCE = 300.0


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture
def hopeless(tmp_path: Path) -> Path:
    """A column without a value, which no method can learn from."""
    pd.DataFrame({"a": [None] * 24, "ill": [0, 0, 1, 1] * 6}).to_csv(
        tmp_path / "few.csv", index=False
    )
    card = tmp_path / "few.toml"
    card.write_text('target = "ill"\n')
    return card


def start(*args: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [*COMMAND, "bench", "run", *map(str, args)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def when_stored(store: Path, n_cells: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(cell_paths(store)) < n_cells:
        assert time.monotonic() < deadline, "no cell came"
        time.sleep(0.01)


def test_killed_then_interrupted_then_finished(
    plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    store = tmp_path / "store"
    args = ("--plan", plan, "--out", store, "--jobs", 1)

    killed = start(*args)
    when_stored(store, 1)
    killed.kill()
    killed.communicate()
    kept = {path: path.read_bytes() for path in cell_paths(store)}
    assert 1 <= len(kept) < 5  # else the plan is too short to be interrupted after this
    assert all(record.status == "done" for record in read_records(store))

    interrupted = start(*args)
    when_stored(store, len(kept) + 1)
    os.killpg(interrupted.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, errors = interrupted.communicate()
    assert interrupted.returncode == 130
    assert errors == "hyperdfs: interrupted\n"
    assert f"{len(kept)} stored" in out

    assert main(["bench", "run", *map(str, args)]) == 0
    out, errors = capsys.readouterr()
    assert errors == ""
    assert "6 cells done, 0 failed." in out
    assert {path: path.read_bytes() for path in kept} == kept

    wanted = read_plan(plan)
    list(run(tmp_path / "inline", cells(wanted, choose(wanted.datasets)[0]), InlineEngine()))
    same_cells(store, tmp_path / "inline")
    assert not list(store.rglob("*.part"))


def test_what_looks_wrong_in_a_table_is_told_before_a_cell_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = pd.DataFrame({"a": ["1,204", "7,300"] * 12, "b": [0.5, None] * 12, "ill": [0, 1] * 12})
    rows.loc[3, "ill"] = None
    rows.to_csv(tmp_path / "own.csv")  # with row numbers
    (tmp_path / "own.toml").write_text('target = "ill"\n')
    args = ["bench", "run", "--methods", "constant", "--datasets", str(tmp_path / "own.toml")]
    assert main([*args, "--folds", "2", "--out", str(tmp_path / "store"), "--jobs", "1"]) == 0
    text = capsys.readouterr().out
    assert "own  note  Unnamed: 0: the column has no name" in text
    assert 'drop = ["Unnamed: 0"] in the card' in text
    assert "numbers such as '1,204' are read as categories" in text
    assert "1 of 24 rows have no label and are left out" in text
    rows["b"] = [0.5] * 20 + [float("inf")] * 4
    rows.to_csv(tmp_path / "own.csv", index=False)
    assert main([*args, "--out", str(tmp_path / "other")]) == 2
    error = capsys.readouterr().err
    assert "row 21 of" in error  # of the file, not of a fold and not of the rows with a label
    assert "'b' holds infinity" in error
    assert main(["datasets", str(tmp_path / "own.toml")]) == 2
    assert "row 21 of" in capsys.readouterr().err


def test_a_failure_of_another_plan_is_no_failure_of_this_one(
    hopeless: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["bench", "run", "--methods", "constant", "--datasets", str(hopeless), "--jobs", "1"]
    args += ["--folds", "2", "--out", str(tmp_path / "store")]
    assert main(args) == 1
    rows = pd.read_csv(hopeless.with_suffix(".csv"))
    rows.assign(a=range(24)).to_csv(hopeless.with_suffix(".csv"), index=False)
    assert main(args) == 0
    assert "2 to run" in capsys.readouterr().out


def test_a_damaged_cell_is_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store"
    args = ["bench", "run", "--methods", "constant", "--datasets", "wine", "--jobs", "1"]
    args += ["--folds", "2", "--out", str(store)]
    assert main(args) == 0
    first, second = cell_paths(store)
    kept = second.read_bytes()
    first.write_bytes(first.read_bytes()[:300])
    assert main(args) == 0
    assert "2 cells: 1 stored" in capsys.readouterr().out
    assert [record.status for record in read_records(store)] == ["done", "done"]
    assert second.read_bytes() == kept


def test_failures_are_told_kept_and_retried(
    hopeless: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    store = tmp_path / "store"
    args = ["bench", "run", "--methods", "random", "--datasets", str(hopeless), "--folds", "3"]
    args += ["--out", str(store), "--jobs", "1"]
    assert main(args) == 1
    text = capsys.readouterr().out
    assert "[1/3] few  random  fold 0  failed: InputError: " in text
    assert "0 cells done, 3 failed." in text
    before = [path.stat().st_mtime_ns for path in cell_paths(store)]

    assert main(args) == 1
    assert "3 failed before (--retry-failed runs them again), 0 to run" in capsys.readouterr().out
    assert [path.stat().st_mtime_ns for path in cell_paths(store)] == before

    assert main(["bench", "status", "--out", str(store)]) == 0
    assert "Failed: few  random  fold 2: InputError: " in capsys.readouterr().out

    assert main([*args, "--retry-failed"]) == 1
    assert "3 to run" in capsys.readouterr().out
    assert [path.stat().st_mtime_ns for path in cell_paths(store)] != before

    assert main([*args, "--json"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert [content[name] for name in ("done", "failed", "stored")] == [0, 3, 3]
    assert [failure["key"]["fold"] for failure in content["failures"]] == [0, 1, 2]
    assert content["failures"][0]["reason"].startswith("InputError: ")


def test_a_card_runs_is_shown_and_is_slimmed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table_csv: Path
):
    card = table_csv.with_suffix(".toml")
    card.write_text('target = "risk"\ndrop = ["id"]\n[groups]\nbp = ["systolic", "diastolic"]\n')
    store, thin = tmp_path / "store", tmp_path / "thin"
    (tmp_path / "plan.toml").write_text(PLAN)
    args = ["--plan", str(tmp_path / "plan.toml"), "--datasets", str(card), "--folds", "2"]
    assert main(["bench", "run", *args, "--out", str(store)]) == 0
    assert "clinic  tiny  fold 0  AUAC-F1" in capsys.readouterr().out
    [record, _] = read_records(store)
    assert (record.key.dataset, record.budget, record.n_folds) == ("clinic", 6, 2)
    assert "bp" in record.feature_names

    assert main(["bench", "status", "--out", str(store), "--watch"]) == 0
    assert "Time left: none" in capsys.readouterr().out
    assert main(["bench", "status", "--out", str(store), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["done"], content["failed"], content["seconds_left"]) == (2, 0, 0.0)

    assert main(["bench", "slim", "--out", str(store), "--to", str(thin)]) == 0
    assert "2 cells copied" in capsys.readouterr().out
    assert main(["bench", "table", "--out", str(thin), "--format", "csv"]) == 0
    assert "clinic,tiny," in capsys.readouterr().out

    # The same for programs: nothing but JSON on standard output.
    assert main(["bench", "run", *args, "--out", str(store), "--json"]) == 0
    told, progress = capsys.readouterr()
    outcome = {"out": str(store), "done": 2, "failed": 0, "stored": 2, "failures": []}
    assert json.loads(told) == outcome
    assert "2 stored" in progress.replace("\n", " ")
    assert main(["bench", "slim", "--out", str(store), "--to", str(thin), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["to"], content["copied"]) == (str(thin), 0)
    assert content["bytes"] > 0
    assert main(["bench", "table", "--out", str(thin), "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["dataset"], row["method"], row["n_folds"]) == ("clinic", "tiny", 2)
    assert 0 < row["mean"] <= 100
    assert row["paper_mean"] is None
    page = tmp_path / "page.html"
    assert main(["bench", "report", "--out", str(thin), "--to", str(page), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content == {"page": str(page), "datasets": ["clinic"], "methods": ["tiny"]}
    assert page.is_file()

    # The same label with another setting does not get into the same store.
    (tmp_path / "plan.toml").write_text(PLAN.replace("stage1_epochs = 3", "stage1_epochs = 4"))
    assert main(["bench", "run", *args, "--out", str(store)]) == 2
    assert "was run with stage1_epochs=3 and the plan says 4" in capsys.readouterr().err


@pytest.mark.parametrize("methods", ["constant", "random", "constant,random"])
def test_a_table_that_has_changed_is_refused_before_anything_runs(
    methods: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], table_csv: Path
):
    card = table_csv.with_suffix(".toml")
    card.write_text('target = "risk"\ndrop = ["id"]\n')
    args = ["bench", "run", "--datasets", str(card), "--folds", "2", "--out", str(tmp_path / "s")]
    args += ["--jobs", "1"]
    assert main([*args, "--methods", "constant"]) == 0
    assert main([*args, "--methods", "constant"]) == 0
    assert "2 stored" in capsys.readouterr().out
    kept = {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}

    table = pd.read_csv(table_csv)
    table.loc[0, "age"] += 1
    table.to_csv(table_csv, index=False)
    assert main([*args, "--methods", methods]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "'clinic' has changed since" in error
    assert "choose another --out or delete those cells" in error
    assert {p: p.read_bytes() for p in (tmp_path / "s").rglob("*") if p.is_file()} == kept


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["run", "--methods", "random"], "Missing option '--out'"),
        (["run", "--out", "x", "--methods", "random"], "at least one data set"),
        (["run", "--out", "x", "--datasets", "wine"], "at least one method"),
        (["run", "--out", "x", "--methods", "a", "--datasets", "wine"], "got 'a'"),
        (["run", "--out", "x", "--methods", "random", "--datasets", "vine"], "did you mean wine"),
        (["run", "--out", "x", "--methods", "oracle", "--datasets", "wine"], "synthetic data only"),
        (["run", "--out", "x", "--plan", "none.toml"], "There is no plan none.toml"),
        (["status", "--out", "none"], "There is no folder none"),
        (["status", "--out", ".", "--watch", "--json"], "choose one"),
        (["table", "--out", ".", "--json", "--format", "csv"], "got --format csv; choose one"),
        (["slim", "--out", "none", "--to", "x"], "There are no cells in none"),
    ],
)
def test_mistakes_are_one_line(
    args: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", *args]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error
    assert list(tmp_path.iterdir()) == []
