"""Processes of this machine: results, failures, deaths and ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_workers import DYING, FAILING, either, square
from hyperdfs.bench.engines import LocalEngine, make_engine
from hyperdfs.bench.engines.local import _outcome
from hyperdfs.errors import InputError

PATIENCE = 60.0


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens in another process."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()


def test_every_task_comes_back_once_and_no_death_is_catching():
    outcomes = list(LocalEngine(jobs=2).run(range(6), square))
    results = {o.task: o.result for o in outcomes}
    assert results == {0: 0, 1: 1, FAILING: None, DYING: None, 4: 16, 5: 25}
    assert len(outcomes) == 6
    deaths = {o.task: o.death for o in outcomes if o.death}
    assert set(deaths) == {FAILING, DYING}
    assert "RuntimeError: two is too much" in deaths[FAILING]
    assert "ended by SIGKILL, as a rule for want of memory" in deaths[DYING]
    assert list(LocalEngine(jobs=2).run([], square)) == []


def test_half_an_answer_is_a_death():
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=os._exit, args=(7,))
    process.start()
    os.write(sender.fileno(), struct.pack("!i", 100) + b"the first of a hundred bytes")
    sender.close()
    outcome = _outcome(process, receiver, task=1)
    assert (outcome.result, outcome.death) == (None, "The worker died with exit code 7.")


def test_closing_early_ends_the_workers(tmp_path: Path):
    outcomes = LocalEngine(jobs=2).run([1, str(tmp_path)], either)
    assert next(outcomes).result == 1
    until(lambda: bool(list(tmp_path.iterdir())))
    outcomes.close()
    [worker] = tmp_path.iterdir()
    assert gone(int(worker.name))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path):
    script = (
        "from hyperdfs.bench.engines import LocalEngine; from bench_workers import sleep_long;"
        f"list(LocalEngine(jobs=1).run([{str(tmp_path)!r}], sleep_long))"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    parent = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": paths}
    )
    until(lambda: bool(list(tmp_path.iterdir())))
    [worker] = tmp_path.iterdir()
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until(lambda: gone(int(worker.name)))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_ctrl_c_while_workers_import_is_quiet(tmp_path: Path):
    args = ["bench", "run", "--methods", "random", "--datasets", "wine", "--out", str(tmp_path)]
    script = f"import sys; from hyperdfs.cli.app import main; sys.exit(main({args}))"
    run = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    until(lambda: any(_serves(pid) for pid in children.read_text().split()))
    time.sleep(0.5)  # it has begun to import by now, and takes longer than that
    os.killpg(run.pid, signal.SIGINT)
    _, said = run.communicate(timeout=PATIENCE)
    assert (run.returncode, said) == (130, "hyperdfs: interrupted\n")


def _serves(pid: str) -> bool:
    return "forkserver" in Path(f"/proc/{pid}/cmdline").read_text()


def test_engines_by_name():
    assert isinstance(make_engine("local", jobs=3), LocalEngine)
    assert make_engine("local").jobs >= 1  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="one of local, ray, slurm, got 'cloud'"):
        make_engine("cloud")
    with pytest.raises(InputError, match="--address goes with --engine ray only"):
        make_engine("local", address="auto")
