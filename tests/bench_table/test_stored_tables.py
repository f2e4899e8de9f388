"""The tables in `results/tables` are what their commands print, so that none goes stale."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from hyperdfs.cli.app import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
COMMANDS = dict(re.findall(r"^hyperdfs (bench table .*) > (results/tables/\S+)$", README, re.M))


def test_every_table_has_its_command() -> None:
    stored = {f"results/tables/{path.name}" for path in (ROOT / "results" / "tables").iterdir()}
    assert stored == set(COMMANDS.values())


@pytest.mark.parametrize(("command", "table"), COMMANDS.items(), ids=COMMANDS.values())
def test_a_table_is_what_its_command_prints(
    command: str, table: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)) == 0
    printed = capsys.readouterr().out
    assert printed == Path(table).read_text(encoding="utf-8"), f"run: hyperdfs {command} > {table}"
