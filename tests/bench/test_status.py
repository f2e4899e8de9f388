"""What a store tells about a run."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hyperdfs.bench.cells import CellKey, CellRecord, Seconds, write_cell
from hyperdfs.bench.leases import Lease, lease
from hyperdfs.bench.runner import write_plan
from hyperdfs.bench.status import read_status, seconds_left
from hyperdfs.errors import DataNotFoundError


def key(label: str = "a", fold: int = 0, dataset: str = "wine") -> CellKey:
    return CellKey(dataset=dataset, label=label, fold=fold)


def record(at: CellKey, seconds: float = 10.0, **changes: object) -> CellRecord:
    content = {"key": at, "status": "done", "method": "random", **changes}
    return CellRecord(**content, seconds=Seconds(total_wall=seconds))


def running(at: CellKey, age: float) -> Lease:
    now = time.time()
    return Lease(key=at, pid=os.getpid(), host="here", started=now - age, heartbeat=now)


def test_counts(tmp_path: Path):
    write_plan(tmp_path, [key(label, fold) for label in ("a", "b") for fold in range(3)])
    write_cell(tmp_path, record(key("a", 0), 4.0))
    write_cell(tmp_path, record(key("a", 1), 6.0))
    write_cell(tmp_path, record(key("b", 0), status="failed", error="ValueError: no"))
    write_cell(tmp_path, record(key("old", 0), 1.0))  # of another plan
    with lease(tmp_path, key("b", 1)):
        status = read_status(tmp_path)
    rows = {c.label: (c.done, c.running, c.failed, c.waiting, c.seconds) for c in status.counts}
    assert rows == {
        "a": (2, 0, 0, 1, 5.0),
        "b": (0, 1, 1, 1, None),
        "old": (1, 0, 0, 0, 1.0),
    }
    assert [r.key for r in status.failures] == [key("b", 0)]
    assert [at.key for at in status.running] == [key("b", 1)]
    content = status.as_dict()
    assert (content["done"], content["running"], content["waiting"]) == (3, 1, 2)
    assert content["workers"][0]["pid"] == os.getpid()


def test_dead_workers_are_shown_and_not_counted(tmp_path: Path):
    write_plan(tmp_path, [key()])
    with lease(tmp_path, key()):
        [path] = (tmp_path / ".running").iterdir()
        os.utime(path, (0, 0))
        status = read_status(tmp_path)
    assert [at.key for at in status.stale] == [key()]
    assert (status.total("running"), status.total("waiting")) == (0, 1)
    assert status.seconds_left is None


def test_a_failed_cell_that_runs_again_is_running(tmp_path: Path):
    write_cell(tmp_path, record(key(), status="failed", error="no"))
    with lease(tmp_path, key()):
        status = read_status(tmp_path)
    assert (status.total("running"), status.total("failed")) == (1, 0)


def test_the_time_left():
    done = [record(key("a", 0), 10.0), record(key("b", 0, "bank"), 100.0)]
    assert seconds_left(done, [], []) == 0.0
    assert seconds_left(done, [key("a", 1)], []) is None  # nobody is at work
    assert seconds_left([], [key("a", 1)], [running(key("a", 2), 1)]) is None  # nothing is known
    one = seconds_left(done, [key("a", 1)], [running(key("a", 2), 4)])
    assert one == pytest.approx(16.0, abs=1.0)
    # Another data set: as its label; an unknown label: as all.
    other = seconds_left(done, [key("b", 1), key("c", 1)], [running(key("a", 2), 10)])
    assert other == pytest.approx(100 + 55, abs=1.0)
    # Two workers share the waiting, but a long cell takes what it takes.
    both = [running(key("a", 2), 0), running(key("b", 1, "bank"), 0)]
    assert seconds_left(done, [], both) == pytest.approx(100.0, abs=1.0)
    # A cell that takes longer than others did is about to end.
    assert seconds_left(done, [], [running(key("a", 2), 99)]) == 0.0


def test_a_store_that_is_not_there(tmp_path: Path):
    with pytest.raises(DataNotFoundError, match="There is no folder"):
        read_status(tmp_path / "none")
    assert read_status(tmp_path).counts == []
