"""The commands as a user runs them: train, ask, evaluate, lists and the demonstration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import typer
from rich.text import Text

import hyperdfs
from commands import walk
from hyperdfs.cli.app import app, main
from hyperdfs.methods import METHODS

RUN = [sys.executable, "-m", "hyperdfs"]
PRICES = "feature,price\nage,1\nsex,1\nmarker,5\npressure,3\nsmoker,1\ntown,1\n"
QUICK = ["--set", "stage1_epochs=3", "--set", "stage2_epochs=2", "--set", "teacher_weight=0"]


def run(*args: object, answers: str = "") -> subprocess.CompletedProcess[str]:
    """A real process with its input from a pipe."""
    environment = {**os.environ, "PYTHONWARNINGS": "default", "PYTHONIOENCODING": "utf-8"}
    command = [*RUN, *map(str, args)]
    return subprocess.run(
        command, input=answers, capture_output=True, encoding="utf-8", env=environment, check=False
    )


def test_train_then_evaluate_then_ask(table_csv: Path, tmp_path: Path) -> None:
    model = tmp_path / "clinic.hdfs"
    (tmp_path / "groups.toml").write_text('pressure = ["systolic", "diastolic"]')
    (tmp_path / "costs.csv").write_text(PRICES)
    trained = run(
        *("train", table_csv, "--target", "risk", "--out", model, "--drop", "id", "--budget", 3),
        *("--groups", tmp_path / "groups.toml", "--costs", tmp_path / "costs.csv", *QUICK),
    )
    assert trained.returncode == 0, trained.stderr
    assert "240 rows, 7 columns" in trained.stdout
    assert "4 numbers, 3 categories" in trained.stdout
    assert "192 of 240 rows" in trained.stdout
    assert trained.stderr == ""

    # `id` is in the file but not in the model, which remembers the target.
    scored = run("evaluate", model, table_csv, "--budgets", "1-3", "--json")
    assert scored.returncode == 0, scored.stderr
    content = json.loads(scored.stdout)
    assert list(content["f1_macro"]) == ["1", "2", "3"]
    assert content["n_rows"] == 240
    assert 0 < content["auac"] <= 1

    asked = run("ask", model, "--know", "age=54", answers="skip\nundo\nwhy\nquit\n")
    assert asked.returncode == 0, asked.stderr
    assert "Prediction:" in asked.stdout


def test_train_in_json_with_and_without_held_out_rows(
    table_csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["train", str(table_csv), "--target", "risk", "--out", str(tmp_path / "m.hdfs"), *QUICK]
    assert main([*args, "--json", "--budget", "2"]) == 0
    assert set(json.loads(capsys.readouterr().out)["held_out"]["accuracy"]) == {"1", "2"}
    assert main([*args, "--json", "--test-fraction", "0", "--method", "random"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["held_out"] is None
    assert content["n_rows"] == 240


def test_the_only_unknown_column_is_the_target(
    table_csv: Path, model_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "test.tsv"
    table = pd.read_csv(table_csv).drop(columns="id")
    table.loc[0, "risk"] = None
    table.to_csv(path, index=False, sep="\t")
    assert main(["evaluate", str(model_file), str(path)]) == 0
    text = capsys.readouterr().out
    assert "target 'risk'" in text
    assert "1 row without a label was left out" in text
    assert "random order" in text


def test_a_case_through_a_pipe(model_file: Path) -> None:
    known = [f"--know={pair}" for pair in ("marker=0.3", "smoker=True", "town=Ash", "sex=F")]
    answers = "age=old\nage=54\n120\n-80\n"
    done = run("ask", model_file, *known, "--budget", 2, answers=answers)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert sum("old" in line for line in lines) == 2  # the answer, and what is wrong with it
    assert "-80 is outside the range" in done.stdout
    assert "2 bought of 6 features, price 4: age, pressure." in done.stdout


def test_what_is_typed_wrong_can_be_mended(model_file: Path) -> None:
    answers = "undo\n\nsex=X\nsex=X\nundo\nsex=M\nsex=F\nquit\n"
    done = run("ask", model_file, answers=answers)
    assert done.returncode == 0, done.stderr
    assert "nothing to take back" in done.stdout
    assert done.stdout.count("is not a category seen in training") == 1
    assert "already known" in done.stdout
    assert "1 bought of 6 features, price 1: sex." in done.stdout


def test_the_end_of_the_input_ends_the_case(model_file: Path) -> None:
    done = run("ask", model_file)
    assert done.returncode == 0
    assert "0 bought of 6 features" in done.stdout


def test_ask_in_json_asks_nothing(model_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["ask", str(model_file), "--json", "--know", "systolic=120", "--know", "diastolic=80"]
    assert main(args) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["known"] == {"pressure": {"systolic": "120", "diastolic": "80"}}
    assert sum(content["proba"].values()) == pytest.approx(1)
    assert {"feature", "cost", "why"} <= set(content["recommend"][0])


@pytest.mark.parametrize("command", ["methods", "datasets"])
def test_lists(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--json"]) == 0
    names = [row["name"] for row in json.loads(capsys.readouterr().out)]
    assert main([command]) == 0
    text = capsys.readouterr().out
    assert names
    assert all(name in text for name in names)


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hyperdfs {hyperdfs.__version__}\n"
    bench = [f"bench {name}" for name in ("run", "status", "table", "report", "slim")]
    for command in ("demo", "train", "ask", "evaluate", "methods", "datasets", "bench", *bench):
        assert main([*command.split(), "--help"]) == 0
        assert "Usage: hyperdfs" in capsys.readouterr().out


def test_help_swallows_nothing() -> None:
    """Square brackets around a word are markup to rich, and vanish."""
    found = [
        text
        for _, command in walk(typer.main.get_command(app))
        for text in (command.help, *(parameter.help for parameter in command.params))
    ]
    assert any(text.startswith("Cells at a time") for text in found)
    assert [Text.from_markup(text).plain for text in found] == found


def test_the_help_names_every_preset(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for preset in {preset for method in METHODS.values() for preset in method.presets}:
        assert preset in text


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    assert "evaluate" in "".join(capsys.readouterr())


def test_demo_writes_its_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "demo.html"
    assert main(["demo", "--rows", "200", "--epochs", "1", "--out", str(page)]) == 0
    text = capsys.readouterr().out
    assert "Bayes oracle" in text
    assert text.count("true class") == 3
    assert "hyperdfs demo --rows 200 --epochs 1 --seed 0" in page.read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["demo.html"]
