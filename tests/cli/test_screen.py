"""What commands print: widths, singular and plural, help texts, commands to copy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from commands import walk
from hyperdfs.cli.app import main
from hyperdfs.cli.options import help_of
from hyperdfs.cli.scoring import Scores, print_scores
from hyperdfs.cli.screen import class_bars, stdout

ONE_ROW = Scores(1, {1: 0.5}, {1: 0.5}, {1: 0.5}, 0.5, 0.5)


def test_bars_begin_at_the_same_place() -> None:
    lines = class_bars(["良性", "ill", "cafe\u0301"], [0.5, 0.3, 0.2])
    assert len({cell_len(line.split("█")[0]) for line in lines}) == 1
    assert lines[1].startswith(" ill  █")


def test_one_purchase(capsys: pytest.CaptureFixture[str]) -> None:
    print_scores(stdout(), ONE_ROW)
    assert "over 1 purchase:" in capsys.readouterr().out


def test_one_row_and_a_path_with_a_blank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("a,y\n" + "1,no\n2,yes\n" * 20 + "3,\n")
    monkeypatch.chdir(tmp_path)
    tiny = ["--set", "stage1_epochs=1", "--set", "stage2_epochs=1", "--set", "teacher_weight=0"]
    args = ["train", "rows.csv", "--target", "y", "--out", "my model.hdfs", *tiny]
    assert main([*args, "--test-fraction", "0.05", "--set", "rollout_steps=0"]) == 0
    out = capsys.readouterr().out
    assert "rows.csv: 40 rows, 1 column\n" in out
    assert "kinds    1 number, 0 categories" in out
    assert "1 row without a label was left out" in out
    assert out.endswith("Next: hyperdfs ask 'my model.hdfs'\n")


def test_a_table_of_one_category_and_cell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text("a,y\nu,no\nv,yes\n,no\n")
    (tmp_path / "rows.toml").write_text('target = "y"\n')
    assert main(["datasets", str(tmp_path / "rows.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kinds"] == {"a": "category"}
    assert main(["datasets", str(tmp_path / "rows.toml")]) == 0
    out = capsys.readouterr().out
    assert "1 category: 'a'" in out
    assert "1 cell\n" in "\n".join(line.rstrip() for line in out.splitlines()) + "\n"


def test_help_has_line_breaks_between_paragraphs_only() -> None:
    from typer.main import get_command

    from hyperdfs.cli.app import app

    commands = dict(walk(get_command(app)))
    assert "ceiling is the mean macro-F1 in percent over" in commands["datasets"].help
    assert "exit code is 1 when a cell failed." in commands["bench run"].help
    for command in commands.values():
        assert "\n" not in command.help.replace("\n\n", "")


def test_help_of_a_docstring() -> None:
    def command() -> None:
        """Do it.

        At length,
        and well.
        """

    assert help_of(command) == "Do it.\n\nAt length, and well."
