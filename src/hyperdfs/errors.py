"""The error tree. Every message for a user states the rule, the value found and the remedy."""

from __future__ import annotations


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
