"""Entry point: the commands, and errors as one readable line."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import hyperdfs
from hyperdfs.cli.ask import ask
from hyperdfs.cli.bench import bench
from hyperdfs.cli.datasets import datasets
from hyperdfs.cli.demo import demo
from hyperdfs.cli.evaluate import evaluate
from hyperdfs.cli.methods import methods
from hyperdfs.cli.options import help_of
from hyperdfs.cli.train import train
from hyperdfs.errors import HyperDFSError

DEFECT, USER_ERROR, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
DEBUG = "HYPERDFS_DEBUG"

app = typer.Typer(
    name="hyperdfs",
    help="Buy only the features worth paying for: dynamic feature selection.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (demo, train, ask, evaluate, methods, datasets):
    app.command(help=help_of(command))(command)
app.add_typer(bench, name="bench")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hyperdfs {hyperdfs.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Buy only the features worth paying for: dynamic feature selection."""


def main(args: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; a user never sees a traceback."""
    warnings.showwarning = _show_warning
    try:
        code = app(args=args, prog_name="hyperdfs", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        return _leave_quietly()
    except SystemExit as end:  # what click and rich make of a broken pipe
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return _leave_quietly()
    except (HyperDFSError, OSError, ValueError) as error:
        if DEBUG in os.environ and not isinstance(error, HyperDFSError):
            raise
        return _complain(_message(error))
    except Exception as error:
        if hasattr(error, "format_message"):  # click's usage errors
            return _complain(error.format_message())
        if DEBUG in os.environ:
            raise
        _complain(f"{type(error).__name__}: {error} (a defect; {DEBUG}=1 shows where)")
        return DEFECT
    if code == INTERRUPTED:
        print("hyperdfs: interrupted", file=sys.stderr)
    return code if isinstance(code, int) else 0


def _leave_quietly() -> int:
    """The reader has gone (`| head`): nothing is left to say, not even at interpreter exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and not isinstance(error, HyperDFSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _complain(message: str) -> int:
    line = " ".join(message.split())
    if line:  # `hyperdfs` alone shows the help, and has nothing to complain about
        print(f"hyperdfs: error: {line}", file=sys.stderr)
    return USER_ERROR


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    from hyperdfs.cli.screen import warn

    warn(str(message))
