"""From tasks to a filled store: what is missing, what is stored already, what comes in."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from hyperdfs.atomic import PART, replacing
from hyperdfs.bench.cells import SUFFIX, CellKey, CellRecord, find_record, write_cell
from hyperdfs.bench.engines import Engine
from hyperdfs.bench.leases import held, sweep_leases
from hyperdfs.bench.protocol import CellTask
from hyperdfs.bench.work import Elsewhere, failed, worker
from hyperdfs.errors import InputError

PLAN = "plan.json"
STALE = 60.0  # seconds after which a file in the making was left by a dead process
POLL = 1.0  # seconds between looks at what other processes are at work on


class _Absent:
    def __repr__(self) -> str:
        return "(no such field)"


ABSENT = _Absent()


@dataclass(frozen=True)
class Agenda:
    """What a store says about a plan: cells to run, and records that are there."""

    missing: list[CellTask]
    done: list[CellRecord]
    failed: list[CellRecord]

    @property
    def total(self) -> int:
        return len(self.missing) + len(self.done) + len(self.failed)


def prepare(root: Path, tasks: Sequence[CellTask], *, retry_failed: bool = False) -> Agenda:
    """Look into the store, tidy what dead processes left, and note the plan for `status`.

    Refuses to mix cells of another configuration, number of folds or data with those of the plan.
    """
    if root.exists() and not root.is_dir():
        raise InputError(f"A store must be a folder, {root} is a file; choose another --out.")
    root.mkdir(parents=True, exist_ok=True)
    sweep(root)
    stored = {task.key: find_record(root / task.key.path()) for task in tasks}
    missing, done, broken = [], [], []
    for task in tasks:
        record = stored[task.key]
        if record is None:
            missing.append(task)
        elif record.status == "failed":
            again = retry_failed or not says_of(root, task, record)
            missing.append(task) if again else broken.append(record)
        else:
            check_same_setting(root, task, record)
            check_same_data(root, task, record)
            done.append(record)
    kin = {at: companion(root, *at) for at in {_rows(task) for task in missing}}
    missing = [beside(root, task, kin[_rows(task)]) for task in missing]
    write_plan(root, [task.key for task in tasks])
    return Agenda(missing, done, broken)


def run(root: Path, tasks: Sequence[CellTask], engine: Engine) -> Generator[CellRecord, None, None]:
    """Run the cells and yield their records as they come; the store has them by then.

    What another process is at work on comes last, when that has ended or died.
    """
    rest = list(tasks)
    try:
        while rest:
            elsewhere: list[CellTask] = []
            with closing(engine.run(rest, worker(root.resolve()))) as outcomes:
                for outcome in outcomes:
                    record = outcome.result
                    if isinstance(record, Elsewhere):
                        elsewhere.append(outcome.task)
                        continue
                    if record is None:
                        record = failed(outcome.task.record(), outcome.death)
                        write_cell(root, record)
                    yield record
            rest = elsewhere
            while rest and held(root).issuperset(task.key for task in rest):
                time.sleep(POLL)
    finally:
        sweep_leases(root)  # of workers that died or were ended


def check_same_setting(root: Path, task: CellTask, record: CellRecord) -> None:
    """A stored cell must be what the plan would run."""
    plan = {"method": task.method, "preset": task.preset, "folds": task.n_folds, **task.config()}
    found = {
        "method": record.method,
        "preset": record.preset,
        "folds": record.n_folds,
        **record.config,
    }
    for name in {**plan, **found}:
        # A field that did not exist yet is not the same as one that is None.
        planned, stored = plan.get(name, ABSENT), found.get(name, ABSENT)
        if planned != stored:
            raise InputError(
                f"Stored cells must have the plan's setting, but {root / task.key.path()} was run "
                f"with {name}={stored!r} and the plan says {planned!r}; choose "
                "another --out, name the variant differently or delete the cell."
            )


def check_same_data(root: Path, task: CellTask, record: CellRecord) -> None:
    """A stored cell must have seen the data as they are, where the plan had to read them."""
    if task.fingerprint and record.fingerprint and task.fingerprint != record.fingerprint:
        raise InputError(
            f"The cells of a store must share their data, but {task.key.dataset!r} has changed "
            f"since {root / record.key.path()} was run (content {record.fingerprint}, now "
            f"{task.fingerprint}); choose another --out or delete those cells."
        )


def says_of(root: Path, task: CellTask, record: CellRecord) -> bool:
    """Whether a failure is one of this task: other settings, folds or data may do better."""
    try:
        if record.config:  # a worker that died had no time to note it
            check_same_setting(root, task, record)
        check_same_data(root, task, record)
    except InputError:
        return False
    return (task.method, task.preset, task.n_folds) == (
        record.method,
        record.preset,
        record.n_folds,
    )


def companion(root: Path, dataset: str, max_rows: int | None) -> CellRecord | None:
    """A finished cell on the same rows, of whatever method."""
    records = map(find_record, sorted((root / dataset).glob(f"*/*{SUFFIX}")))
    return next(
        (r for r in records if r and r.status == "done" and r.key.max_rows == max_rows), None
    )


def beside(root: Path, task: CellTask, other: CellRecord | None) -> CellTask:
    """The task, held to the folds and the data of a cell it will be compared with."""
    if other is None:
        return task
    if other.n_folds != task.n_folds:
        raise InputError(
            f"The cells of a data set must share their folds, but {root / other.key.path()} was "
            f"run with folds={other.n_folds} and the plan says {task.n_folds}; choose another "
            "--out."
        )
    check_same_data(root, task, other)
    return replace(task, fingerprint=other.fingerprint)


def sweep(root: Path) -> None:
    """Delete what killed processes left behind: files half written, signs of life."""
    sweep_leases(root)
    for part in root.glob(f"**/*{PART}"):
        try:
            if time.time() - part.stat().st_mtime > STALE:
                part.unlink()
        except FileNotFoundError:  # its writer has just finished
            continue


def write_plan(root: Path, keys: Sequence[CellKey]) -> None:
    """Note which cells the latest plan asks for."""
    content = {"cells": [key.model_dump() for key in keys]}
    with replacing(root / PLAN) as temporary:
        temporary.write_text(json.dumps(content), encoding="utf-8")


def read_plan_cells(root: Path) -> list[CellKey]:
    """The cells that the latest plan asks for; none where no plan was run."""
    try:
        content = json.loads((root / PLAN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return [CellKey.model_validate(key) for key in content["cells"]]


def _rows(task: CellTask) -> tuple[str, int | None]:
    """What tells which rows a task is about."""
    return task.key.dataset, task.key.max_rows
