"""A real Ray cluster of two workers: same results, and a killed worker changes none of them."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bench_cells import InlineEngine, interrupted_once, same_cells, task_of
from bench_workers import DYING, FAILING, square
from hyperdfs.bench.engines import make_engine
from hyperdfs.bench.runner import prepare, run

TASKS = [task_of(label=label, n_folds=3) for label in ("a", "b")]
PATIENCE = 300.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """One cluster for all tests: starting it takes longer than they do."""
    import ray

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=100 * 2**20,
    )
    yield
    ray.shutdown()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("jobs", [None, 1])
def test_every_task_comes_back_once_and_no_death_is_catching(jobs: int | None):
    outcomes = list(make_engine("ray", jobs=jobs).run(range(5), square))
    results = {o.task: o.result for o in outcomes}
    assert results == {0: 0, 1: 1, FAILING: None, DYING: None, 4: 16}
    assert len(outcomes) == 5
    deaths = {o.task: o.death for o in outcomes if o.death}
    assert set(deaths) == {FAILING, DYING}
    assert "RuntimeError: two is too much" in deaths[FAILING]
    assert "died" not in deaths[FAILING]
    assert "The worker died 3 times" in deaths[DYING]
    assert "\x1b" not in deaths[DYING]


@pytest.mark.usefixtures("cluster")
def test_cells_are_the_same_when_a_worker_is_killed_in_the_middle(tmp_path: Path):
    reference, store, marks = (tmp_path / name for name in ("inline", "ray", "marks"))
    marks.mkdir()
    list(run(reference, TASKS, InlineEngine()))
    prepare(store, TASKS)
    work = partial(interrupted_once, root=store, marks=marks)
    outcomes = make_engine("ray").run([TASKS[0]], work)
    killer = _kill_when_marked(marks / TASKS[0].key.label)
    [outcome] = outcomes
    killer.join()
    assert outcome.result is not None, outcome.death
    assert outcome.result.status == "done"
    list(run(store, prepare(store, TASKS).missing, make_engine("ray", jobs=2)))
    same_cells(reference, store)


def _kill_when_marked(mark: Path) -> threading.Thread:
    """Kill the worker that wrote its number there, as soon as it has."""

    def kill() -> None:
        deadline = time.monotonic() + PATIENCE
        while not (mark.exists() and mark.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(int(mark.read_text()), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread
