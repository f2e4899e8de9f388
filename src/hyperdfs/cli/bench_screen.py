"""What a running benchmark shows: a line for each finished cell and, on a terminal, a bar."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from hyperdfs.bench.cells import CellKey, CellRecord
from hyperdfs.bench.leases import read_leases
from hyperdfs.bench.runner import Agenda
from hyperdfs.bench.status import seconds_left

GLANCE = 1.0  # seconds between looks at the leases


class Screen:
    """Lines on the console; with a bar below them where it is a terminal."""

    def __init__(self, console: Console, root: Path, agenda: Agenda) -> None:
        self._console, self._total = console, len(agenda.missing)
        self._came: list[CellRecord] = []
        self._told: set[tuple[str, str]] = set()  # data set and warning
        self._pace = _Pace(root, agenda, self._came)
        self._bar = Progress(
            TextColumn("Cells"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            self._pace,
            console=console,
            disable=not console.is_terminal or not agenda.missing,
            transient=True,
        )
        self._task = self._bar.add_task("cells", total=self._total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, record: CellRecord) -> None:
        """One more cell has come in."""
        self._came.append(record)
        width = len(str(self._total))
        line = f"[{len(self._came):>{width}}/{self._total}] {describe(record)}"
        self._console.print(line, markup=False, soft_wrap=True)
        for warning in record.warnings:
            if (record.key.dataset, warning) not in self._told:
                self._told.add((record.key.dataset, warning))
                note = f"{record.key.dataset}  note  {warning}"
                self._console.print(note, markup=False, soft_wrap=True)
        self._bar.update(self._task, completed=len(self._came))


class _Pace(ProgressColumn):
    """How many cells are under way, how many failed, and how long the rest will take."""

    def __init__(self, root: Path, agenda: Agenda, came: list[CellRecord]) -> None:
        super().__init__()
        self._root, self._agenda, self._came = root, agenda, came
        self._looked, self._text = 0.0, Text()

    def render(self, task: Task) -> Text:
        if time.monotonic() - self._looked > GLANCE:
            self._looked, self._text = time.monotonic(), Text(self._look())
        return self._text

    def _look(self) -> str:
        came = {record.key for record in self._came}
        running = [at for at in read_leases(self._root) if at.alive and at.key not in came]
        busy = {at.key for at in running}
        waiting = [
            task.key
            for task in self._agenda.missing
            if task.key not in came and task.key not in busy
        ]
        failed = sum(record.status == "failed" for record in self._came)
        left = seconds_left([*self._agenda.done, *self._came], waiting, running)
        told = [f"{len(running)} running"]
        told += [f"{failed} failed"] if failed else []
        told += [f"about {duration(left)} left"] if left else []
        return ", ".join(told)


def duration(seconds: float) -> str:
    """A time as a person would say it.

    >>> duration(42), duration(400), duration(9000)
    ('42 s', '7 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def cell_name(key: CellKey) -> str:
    """A cell in words."""
    seed = f", seed {key.seed}" if key.seed else ""
    return f"{key.dataset}  {key.label}  fold {key.fold}{seed}"


def describe(record: CellRecord) -> str:
    """A cell and what came of it, in one line."""
    name = cell_name(record.key)
    if record.status == "failed" or record.auac is None:
        return f"{name}  failed: {record.reason()}"
    return f"{name}  AUAC-F1 {100 * record.auac:.2f} %  {record.seconds.spent_wall:.0f} s"
