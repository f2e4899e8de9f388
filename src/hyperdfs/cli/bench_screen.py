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
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from hyperdfs.bench.cells import CellKey, CellRecord
from hyperdfs.bench.leases import read_leases
from hyperdfs.bench.runner import Agenda

LONG_MEMORY = 24 * 3600.0  # seconds: cells are long, so the pace is that of the whole run
GLANCE = 1.0  # seconds between looks at the leases


class Screen:
    """Lines on the console; with a bar below them where it is a terminal."""

    def __init__(self, console: Console, root: Path, agenda: Agenda) -> None:
        self._console, self._root = console, root
        self._done, self._failed, self._total = 0, 0, len(agenda.missing)
        self._bar = Progress(
            TextColumn("Cells"),
            BarColumn(),
            MofNCompleteColumn(),
            _Running(root),
            TextColumn("{task.fields[failed]} failed"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            speed_estimate_period=LONG_MEMORY,
            disable=not console.is_terminal or not agenda.missing,
            transient=True,
        )
        self._task = self._bar.add_task("cells", total=self._total, failed=0)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, record: CellRecord) -> None:
        """One more cell has come in."""
        self._done += 1
        self._failed += record.status == "failed"
        width = len(str(self._total))
        line = f"[{self._done:>{width}}/{self._total}] {describe(record)}"
        self._console.print(line, markup=False, soft_wrap=True)
        self._bar.update(self._task, completed=self._done, failed=self._failed)


class _Running(TextColumn):
    """How many cells are under way, by their leases."""

    def __init__(self, root: Path) -> None:
        super().__init__("{task.description}")
        self._root, self._looked, self._text = root, 0.0, ""

    def render(self, task: Task) -> Text:
        if time.monotonic() - self._looked > GLANCE:
            self._looked = time.monotonic()
            self._text = f"{sum(lease.alive for lease in read_leases(self._root))} running"
        return Text(self._text)


def cell_name(key: CellKey) -> str:
    """A cell in words."""
    seed = f", seed {key.seed}" if key.seed else ""
    return f"{key.dataset}  {key.label}  fold {key.fold}{seed}"


def describe(record: CellRecord) -> str:
    """A cell and what came of it, in one line."""
    name = cell_name(record.key)
    if record.status == "failed" or record.auac is None:
        return f"{name}  failed: {reason(record)}"
    return f"{name}  AUAC-F1 {100 * record.auac:.2f} %  {record.seconds.total_wall:.0f} s"


def reason(record: CellRecord) -> str:
    """The last line of the traceback, without the path of the error's class."""
    lines = (record.error or "").strip().splitlines() or ["unknown"]
    kind, colon, sentence = lines[-1].partition(": ")
    return f"{kind.rpartition('.')[2]}{colon}{sentence}"
