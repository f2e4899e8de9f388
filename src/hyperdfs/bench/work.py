"""What a worker does with a task: run the cell, whatever happens put a record into the store."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hyperdfs.bench.cells import CellRecord, find_record, write_cell
from hyperdfs.bench.leases import lease
from hyperdfs.bench.protocol import CellTask, Make, make_classifier, now, run_cell
from hyperdfs.evaluation.nets import NetError

TRIALS = ".trials"  # beside the cells: what the methods of a fold decide alike


@dataclass(frozen=True)
class Elsewhere:
    """Another process is at work on the cell."""


def work_on(task: CellTask, *, root: Path, make: Make = make_classifier) -> CellRecord | Elsewhere:
    """Run the cell, store it and return its record. A cell that fails is stored as failed.

    It may be done already: by another process, or by a worker that died after it had stored its
    cell and is started again by its engine.
    """
    record, arrays = task.record(), None
    with lease(root, task.key) as ours:
        if not ours:
            return Elsewhere()
        stored = finished(root, task)
        if stored:
            return stored
        try:
            record, arrays = run_cell(task, record, trials=root / TRIALS, make=make)
        except Exception as error:
            failed(record, traceback.format_exc())
            if isinstance(error, NetError):
                record.checks[error.net] = False
        write_cell(root, record, arrays)
    return record


def worker(root: Path) -> partial[CellRecord | Elsewhere]:
    """The function that an engine applies to each task."""
    return partial(work_on, root=root)


def failed(record: CellRecord, error: str) -> CellRecord:
    """The record of a cell that failed."""
    record.status, record.error, record.finished = "failed", error, now()
    return record


def finished(root: Path, task: CellTask) -> CellRecord | None:
    """The record of the cell if the store has it, done and whole."""
    record = find_record(root / task.key.path())
    return record if record and record.status == "done" else None
