"""What several commands do with their options."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getdoc
from pathlib import Path

from hyperdfs.errors import InputError


def names(text: str | None) -> tuple[str, ...] | None:
    """A list with commas; None, where the option was not given, stays None.

    >>> names("wine, heart")
    ('wine', 'heart')
    """
    return None if text is None else tuple(p.strip() for p in text.split(",") if p.strip())


def help_of(command: Callable[..., None]) -> str:
    """A docstring as a help text: lines end where the screen does, and at paragraphs."""
    return "\n\n".join(" ".join(part.split()) for part in (getdoc(command) or "").split("\n\n"))


def need_place(option: str, path: Path) -> None:
    """Where a file is to be written: better told before the work than after it."""
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{option} must be a file in a folder that exists, got {path}.")
