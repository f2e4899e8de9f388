"""The Python of the README runs from top to bottom, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from commands import walk
from hyperdfs.cli.app import app
from hyperdfs.methods import METHODS, method_names

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


def test_methods_are_counted() -> None:
    text = " ".join(README.read_text("utf-8").split())
    assert f"any of {len(method_names())} methods" in text
    families = [METHODS[name].family for name in method_names()]
    assert families.count("multi-model") == 4
    assert "four that combine several models" in text
    assert families.count("single model") == 8
    assert "eight of the literature" in text


def test_what_fills_missing_cells_in_is_named() -> None:
    """Presets of these names, and the oracle, are all that use the paper's preprocessing."""
    for name in method_names():
        method = METHODS[name]
        for preset in method.presets:
            fills = method.configure(preset).preprocessing == "paper"
            assert fills == (preset in ("paper", "authors") or name == "oracle")
    text = " ".join(README.read_text("utf-8").split())
    told = text[text.index("never filled in") :].partition(".")[0]
    assert all(word in told for word in ('preset="paper"', 'preset="authors"', "`oracle`"))


def test_every_command_but_the_demonstration_prints_json() -> None:
    for name, command in walk(typer.main.get_command(app)):
        options = [option for parameter in command.params for option in parameter.opts]
        assert ("--json" in options) == (name != "demo"), name
