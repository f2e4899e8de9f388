"""Small cells for the tests of the benchmark, and ways to run and compare them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from hyperdfs.bench.cells import CellKey, CellRecord, cell_paths, read_arrays, read_record
from hyperdfs.bench.engines import Outcome
from hyperdfs.bench.protocol import CellTask
from hyperdfs.bench.work import work_on
from small_tables import TINY


def task_of(dataset: str = "wine", label: str = "tiny", **changes: Any) -> CellTask:
    """A cell that takes a fraction of a second."""
    key = {name: changes.pop(name) for name in ("fold", "seed", "max_rows") if name in changes}
    return CellTask(
        **{
            "key": CellKey(dataset=dataset, label=label, **{"fold": 0, **key}),
            "source": dataset,
            "method": "hyperdfs",
            "overrides": dict(TINY),
            **changes,
        }
    )


class InlineEngine:
    """Runs the tasks one after the other, right here; `dying` ones never come back."""

    def __init__(self, dying: tuple[CellKey, ...] = ()) -> None:
        self.dying = dying
        self.ran: list[CellKey] = []

    def run(self, tasks: Any, work: Any) -> Any:
        for task in tasks:
            self.ran.append(task.key)
            if task.key in self.dying:
                yield Outcome(task, None, "The worker died: it was killed.")
            else:
                yield Outcome(task, work(task))


def interrupted_once(task: CellTask, *, root: Path, marks: Path) -> CellRecord:
    """Leaves its process number and hangs; whoever comes after a kill does the work."""
    mark = marks / task.key.label
    if not mark.exists():
        mark.write_text(str(os.getpid()))
        time.sleep(600)
    return work_on(task, root=root)


def same_cells(root: Path, other: Path) -> None:
    """Both stores hold the same cells, but for times and memory."""
    assert [p.relative_to(root) for p in cell_paths(root)] == [
        p.relative_to(other) for p in cell_paths(other)
    ]
    timeless = {"seconds", "peak_memory_mb", "finished"}
    for here, there in zip(cell_paths(root), cell_paths(other), strict=True):
        left, right = read_record(here), read_record(there)
        assert left.status == "done", left.error
        assert left.model_dump(exclude=timeless) == right.model_dump(exclude=timeless)
        for name in ("rows", "labels", "order", "proba"):
            one, two = (getattr(read_arrays(path), name) for path in (here, there))
            assert np.array_equal(one, two)
