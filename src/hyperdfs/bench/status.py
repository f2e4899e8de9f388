"""How far a benchmark has come, read from its store alone."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from hyperdfs.bench.cells import CellKey, CellRecord, read_records
from hyperdfs.bench.leases import Lease, as_dict, read_leases
from hyperdfs.bench.runner import read_plan_cells
from hyperdfs.errors import DataNotFoundError


@dataclass(frozen=True)
class Count:
    """The cells of one label."""

    label: str
    done: int
    running: int
    failed: int
    waiting: int
    seconds: float | None  # mean wall time of a finished cell


@dataclass(frozen=True)
class Status:
    """A store at one moment. `stale` are leases whose worker died without a word."""

    counts: list[Count]
    running: list[Lease]
    stale: list[Lease]
    failures: list[CellRecord]
    seconds_left: float | None

    def total(self, what: str) -> int:
        """Over all labels: ``done``, ``running``, ``failed`` or ``waiting``."""
        return sum(getattr(count, what) for count in self.counts)

    def as_dict(self) -> dict[str, Any]:
        """For a program to read."""
        return {
            **{what: self.total(what) for what in ("done", "running", "failed", "waiting")},
            "seconds_left": self.seconds_left,
            "labels": [vars(count) for count in self.counts],
            "workers": [as_dict(lease) for lease in [*self.running, *self.stale]],
            "failures": [
                {"key": record.key.model_dump(), "error": record.error} for record in self.failures
            ],
        }


def read_status(root: Path) -> Status:
    """Count the cells of the latest plan and all others that the store has."""
    if not root.is_dir():
        raise DataNotFoundError(f"There is no folder {root}; `hyperdfs bench run` makes it.")
    leases = read_leases(root)  # before the cells: one that ends meanwhile is then seen as done
    records = {record.key: record for record in read_records(root)}
    alive = {lease.key: lease for lease in leases if lease.alive}
    running = {key: lease for key, lease in alive.items() if not _done(records.get(key))}
    keys = dict.fromkeys([*read_plan_cells(root), *records, *running])
    waiting = [key for key in keys if key not in records and key not in running]
    failures = [r for r in records.values() if r.status == "failed" and r.key not in running]
    return Status(
        counts=_counts(keys, records, running),
        running=list(running.values()),
        stale=[lease for lease in leases if not lease.alive],
        failures=failures,
        seconds_left=seconds_left(records.values(), waiting, list(running.values())),
    )


def seconds_left(
    records: Iterable[CellRecord], waiting: list[CellKey], running: list[Lease]
) -> float | None:
    """The time until all is done, at the pace of the finished cells.

    A cell is taken to last as long as others of its data set and label did, or of its label, or of
    the store. None while nothing is known or nobody is at work.
    """
    if not waiting and not running:
        return 0.0
    lasted: dict[Any, list[float]] = defaultdict(list)
    for record in records:
        if record.status == "done":
            for group in _groups(record.key):
                lasted[group].append(record.seconds.spent_wall)
    if not lasted or not running:
        return None

    def expected(key: CellKey) -> float:
        return fmean(next(lasted[group] for group in _groups(key) if group in lasted))

    now = time.time()
    rests = [max(expected(lease.key) - (now - lease.started), 0.0) for lease in running]
    ahead = sum(rests) + sum(expected(key) for key in waiting)
    return max(ahead / len(running), *rests)


def _groups(key: CellKey) -> tuple[Any, ...]:
    return (key.dataset, key.label), key.label, None


def _done(record: CellRecord | None) -> bool:
    return record is not None and record.status == "done"


def _counts(
    keys: Iterable[CellKey], records: dict[CellKey, CellRecord], running: dict[CellKey, Lease]
) -> list[Count]:
    states: dict[str, Counter[str]] = defaultdict(Counter)
    seconds: dict[str, list[float]] = defaultdict(list)
    for key in keys:
        record = records.get(key)
        state = "running" if key in running else record.status if record else "waiting"
        states[key.label][state] += 1
        if record and state == "done":
            seconds[key.label].append(record.seconds.spent_wall)
    return [
        Count(
            label=label,
            done=state["done"],
            running=state["running"],
            failed=state["failed"],
            waiting=state["waiting"],
            seconds=fmean(seconds[label]) if seconds[label] else None,
        )
        for label, state in states.items()
    ]
