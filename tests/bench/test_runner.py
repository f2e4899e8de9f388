"""The store: nothing is run twice, nothing is lost, nothing is mixed."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bench_cells import InlineEngine, task_of
from hyperdfs.bench.cells import CellKey, cell_paths, read_record, read_records, write_cell
from hyperdfs.bench.choices import choose
from hyperdfs.bench.leases import HEARTBEAT, SILENCE, held, lease, read_leases
from hyperdfs.bench.plan import Plan, cells
from hyperdfs.bench.runner import prepare, read_plan_cells, run, sweep
from hyperdfs.bench.work import Elsewhere, work_on
from hyperdfs.datasets import dataset_info
from hyperdfs.errors import InputError
from small_tables import TINY

TASKS = [task_of(label=label, fold=fold, n_folds=3) for fold in range(2) for label in ("a", "b")]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with all four cells done."""
    for task in TASKS:
        record = task.record()
        record.status, record.config, record.fingerprint = "done", task.config(), "same"
        write_cell(tmp_path, record)
    return tmp_path


def test_a_plan_is_run_once(tmp_path: Path):
    engine = InlineEngine()
    agenda = prepare(tmp_path, TASKS[:2])
    assert (agenda.missing, agenda.done, agenda.failed) == (TASKS[:2], [], [])
    records = list(run(tmp_path, agenda.missing, engine))
    assert [r.status for r in records] == ["done", "done"]
    assert read_records(tmp_path) == records
    agenda = prepare(tmp_path, TASKS[:2])
    assert (agenda.missing, len(agenda.done)) == ([], 2)
    assert read_plan_cells(tmp_path) == [task.key for task in TASKS[:2]]
    assert read_leases(tmp_path) == []


def test_the_oracle_bounds_what_a_plan_runs(tmp_path: Path):
    plan = Plan(
        datasets=("synpairs",),
        methods=("oracle", "random"),
        variants={"random": {"method": "random", "config": TINY}},
        folds=2,
    )
    whole = cells(plan, choose(plan.datasets)[0])[:2]
    few = [replace(t, key=t.key.model_copy(update={"max_rows": 1000})) for t in whole]
    best, random = run(tmp_path, prepare(tmp_path, few).missing, InlineEngine())
    assert (best.status, best.config["dataset"]) == ("done", "synpairs")
    assert best.auac > random.auac + 0.1
    ceiling = dataset_info("synpairs").ceiling
    assert best.auac == pytest.approx(ceiling.nested_auac / 100, abs=0.05)  # of 500 rows
    assert prepare(tmp_path, few).missing == []


@pytest.mark.parametrize("change", [{"n_folds": 4}, {"preset": "paper", "overrides": {}}])
def test_a_failure_of_other_settings_does_not_count(tmp_path: Path, change: dict[str, object]):
    record = TASKS[0].record()
    record.config, record.error = TASKS[0].config(), "ValueError: no"
    write_cell(tmp_path, record)
    assert prepare(tmp_path, TASKS[:1]).failed == [record]
    other = replace(TASKS[0], **change)
    agenda = prepare(tmp_path, [other])
    assert (agenda.missing, agenda.failed) == ([other], [])


def test_a_store_is_a_folder(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"must be a folder, .*file is a file"):
        prepare(tmp_path / "file", TASKS)


def test_only_what_is_missing_is_run(store: Path):
    lost = TASKS[2]
    (store / lost.key.path()).unlink()
    agenda = prepare(store, TASKS)
    assert [task.key for task in agenda.missing] == [lost.key]
    assert agenda.total == len(TASKS)


def test_a_cell_that_is_done_is_not_done_again(store: Path):
    before = (store / TASKS[0].key.path()).read_bytes()
    assert work_on(TASKS[0], root=store).status == "done"
    assert (store / TASKS[0].key.path()).read_bytes() == before


def test_a_death_is_recorded_the_rest_goes_on_and_a_retry_mends_it(tmp_path: Path):
    tasks = TASKS[:3]
    dying = tasks[1].key
    records = list(run(tmp_path, prepare(tmp_path, tasks).missing, InlineEngine((dying,))))
    assert [r.status for r in records] == ["done", "failed", "done"]
    assert read_record(tmp_path / dying.path()).error == "The worker died: it was killed."

    again = prepare(tmp_path, tasks)
    assert again.missing == []
    assert [r.key for r in again.failed] == [dying]
    retry = prepare(tmp_path, tasks, retry_failed=True)
    assert [task.key for task in retry.missing] == [dying]
    assert [r.status for r in run(tmp_path, retry.missing, InlineEngine())] == ["done"]


def test_an_error_is_recorded_with_its_traceback(tmp_path: Path):
    bad = task_of(label="bad", overrides={"no_such_field": 1})
    [record] = run(tmp_path, [bad], InlineEngine())
    assert record.status == "failed"
    assert "Traceback" in str(record.error)
    assert "config has no field 'no_such_field'" in str(record.error)
    assert read_record(tmp_path / bad.key.path()) == record


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"overrides": {"encoder": "raw_mask"}}, r"with encoder='inducing_pool' and .*'raw_mask'"),
        ({"n_folds": 5}, "with folds=3 and the plan says 5"),
        ({"method": "hyperens"}, "with method='hyperdfs'"),
        ({"preset": "paper"}, "with preset='default' and the plan says 'paper'"),
    ],
)
def test_cells_of_another_setting_are_not_mixed_in(store: Path, change: dict, found: str):
    if "overrides" in change:
        change = {"overrides": {**TASKS[0].overrides, **change["overrides"]}}
    with pytest.raises(InputError, match=f"{found}.*choose another --out"):
        prepare(store, [replace(TASKS[0], **change)])


def test_a_field_that_a_stored_cell_does_not_know_is_not_taken_for_none(store: Path):
    path = store / TASKS[0].key.path()
    record = read_record(path)
    name = next(name for name, value in record.config.items() if value is None)
    del record.config[name]
    write_cell(store, record)
    with pytest.raises(InputError, match=rf"with {name}=\(no such field\) and the plan says None"):
        prepare(store, [TASKS[0]])


def test_data_that_have_changed_are_not_mixed_in(store: Path):
    (store / TASKS[1].key.path()).unlink()
    agenda = prepare(store, TASKS[:2])
    [record] = run(store, agenda.missing, InlineEngine())
    assert record.status == "failed"
    assert "'wine' has changed since the others were run" in str(record.error)


def test_data_that_have_changed_are_noticed_by_a_method_that_is_new(store: Path):
    agenda = prepare(store, [task_of(label="new", n_folds=3)])
    [record] = run(store, agenda.missing, InlineEngine())
    assert "'wine' has changed since the others were run" in str(record.error)


def test_methods_on_other_folds_are_not_mixed_in(store: Path):
    with pytest.raises(InputError, match=r"share their folds, but .* folds=3 and the plan says 5"):
        prepare(store, [task_of(label="new", n_folds=5)])
    assert prepare(store, [task_of(label="new", n_folds=5, max_rows=100)]).missing  # other rows


def test_what_a_killed_process_left_is_swept(store: Path):
    cells = {path: path.read_bytes() for path in cell_paths(store)}
    old, young = store / "wine" / "a" / ".x.part", store / "wine" / "a" / ".y.part"
    for part in (old, young):
        part.write_bytes(b"half")
    os.utime(old, (time.time() - 3600,) * 2)
    assert len(read_records(store)) == len(TASKS)
    sweep(store)
    assert not old.exists()
    assert young.exists()  # perhaps another process is writing it right now
    assert {path: path.read_bytes() for path in cell_paths(store)} == cells


def test_a_lease_lives_as_long_as_its_work(tmp_path: Path):
    key = TASKS[0].key
    with lease(tmp_path, key):
        [seen] = read_leases(tmp_path)
        assert (seen.key, seen.pid, seen.alive) == (key, os.getpid(), True)
        [path] = (tmp_path / ".running").iterdir()
        silent = time.time() - 2 * SILENCE
        os.utime(path, (silent, silent))
        assert not read_leases(tmp_path)[0].alive
        sweep(tmp_path)
        assert read_leases(tmp_path) == []
    assert HEARTBEAT < SILENCE / 2


def test_the_lease_of_a_dead_process_is_stale_at_once(tmp_path: Path):
    with lease(tmp_path, TASKS[0].key):
        [path] = (tmp_path / ".running").iterdir()
        no_process = 2**22 + 1  # above the largest number of a process on Linux
        path.write_text(path.read_text().replace(f'"pid": {os.getpid()}', f'"pid": {no_process}'))
        assert not read_leases(tmp_path)[0].alive
        (tmp_path / ".running" / "foreign.json").write_text("not a lease")
        assert len(read_leases(tmp_path)) == 1


@contextmanager
def another_worker(root: Path, key: CellKey, started: float) -> Iterator[subprocess.Popen[bytes]]:
    """A living process with a lease on the cell."""
    path = root / ".running" / "other.json"
    path.parent.mkdir(exist_ok=True)
    process = subprocess.Popen(["sleep", "600"])
    try:
        content = {"key": key.model_dump(), "pid": process.pid, "started": started}
        path.write_text(json.dumps({**content, "host": socket.gethostname()}))
        yield process
    finally:
        process.kill()
        process.wait()
        path.unlink(missing_ok=True)


def test_a_cell_that_another_process_runs_comes_last(tmp_path: Path):
    first, second = TASKS[:2]
    engine = InlineEngine()
    with another_worker(tmp_path, first.key, time.time() - 9) as process:
        assert held(tmp_path) == {first.key}
        records = run(tmp_path, prepare(tmp_path, TASKS[:2]).missing, engine)
        assert next(records).key == second.key
        assert engine.ran == [first.key, second.key]  # asked, and left alone
        assert not (tmp_path / first.key.path()).exists()
        process.kill()
        process.wait()
        [last] = records
    assert (last.key, last.status) == (first.key, "done")
    assert read_leases(tmp_path) == []


def test_what_another_process_has_finished_is_read(tmp_path: Path):
    first, second = TASKS[:2]
    theirs = first.record()
    theirs.status, theirs.parameters = "done", 4711
    with another_worker(tmp_path, first.key, time.time() - 9):
        records = run(tmp_path, [first, second], InlineEngine())
        next(records)
        write_cell(tmp_path, theirs)
        (tmp_path / ".running" / "other.json").unlink()
        assert list(records) == [theirs]


def test_who_comes_first_runs_the_cell(tmp_path: Path):
    """Two that meet: the older lease has it, the younger one leaves it."""
    task = TASKS[0]
    with another_worker(tmp_path, task.key, time.time() - 1):
        assert work_on(task, root=tmp_path) == Elsewhere()
    with another_worker(tmp_path, task.key, time.time() + 9):
        assert work_on(task, root=tmp_path) != Elsewhere()
