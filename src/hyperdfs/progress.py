"""Progress bars: rich on a terminal, silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hyperdfs.training.loop import Progress


@contextmanager
def show_progress(verbose: int) -> Iterator[Progress]:
    """A callback (stage, done, total) that draws one bar per stage on standard error."""
    if not verbose or not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:<16}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, int] = {}

        def update(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage.capitalize(), total=total)
            bars.update(tasks[stage], completed=done)  # type: ignore[arg-type]

        yield update
