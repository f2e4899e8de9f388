"""The Python of the README runs from top to bottom, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hyperdfs.cli.app import app

README = Path(__file__).parent.parent / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S)


def test_python_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, block in enumerate(blocks("python"), start=1):
        exec(compile(block, f"README.md, Python block {number}", "exec"), names)
    assert (tmp_path / "wine.csv").exists()


def test_commands_exist() -> None:
    known = {command.callback.__name__ for command in app.registered_commands if command.callback}
    known |= {group.name for group in app.registered_groups if group.name}
    shown = set(re.findall(r"hyperdfs ([a-z]+)", "\n".join(blocks("console"))))
    assert shown <= known | {"demo"}
    assert {"train", "ask", "evaluate"} <= shown
