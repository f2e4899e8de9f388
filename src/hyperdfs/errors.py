"""The error tree. Every message for a user states the rule, the value found and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable


class HyperDFSError(Exception):
    """Root of all errors that hyperdfs raises on purpose."""


class InputError(HyperDFSError, ValueError):
    """The caller's data, parameters or question cannot be used as they are."""


class ModelFileError(HyperDFSError, ValueError):
    """A saved model cannot be read: truncated, foreign, damaged or from a newer version."""


class DataNotFoundError(HyperDFSError, FileNotFoundError):
    """A file that the user or a data set names is not where it was looked for."""

    def __str__(self) -> str:
        # FileNotFoundError would print errno noise for a plain message.
        return str(self.args[0]) if self.args else ""


class MissingExtraError(HyperDFSError, ImportError):
    """An optional dependency is needed; the message names the extra that installs it."""


def suggest(name: Hashable, known: Iterable[Hashable]) -> str:
    """The remedy for a wrong name: the closest known ones, or else the first few."""
    choices = [str(choice) for choice in known]
    close = difflib.get_close_matches(str(name), choices, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(repr(choice) for choice in close) + "?"
    return "choose from " + listing(choices)


def listing(names: Iterable[Hashable], limit: int = 8) -> str:
    """``'a', 'b' and 3 more``: a list that stays readable for a table of 700 columns."""
    shown = [repr(name) for name in names]
    more = len(shown) - limit
    return ", ".join(shown[:limit]) + (f" and {more} more" if more > 0 else "")
