"""Every command of the command line, for tests that hold for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def walk(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Name and command, those of groups one by one: ``bench run``."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    for word, inner in command.commands.items():
        yield from walk(inner, f"{name} {word}".strip())
