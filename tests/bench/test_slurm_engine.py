"""Jobs through submitit's executor for this machine: what a SLURM cluster would run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from bench_cells import InlineEngine, same_cells, task_of
from bench_workers import DYING, FAILING, square
from hyperdfs.bench.engines import make_engine
from hyperdfs.bench.runner import prepare, run
from hyperdfs.errors import InputError

HERE = {"cluster": "local"}


@pytest.fixture(autouse=True)
def _jobs_find_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))


def test_a_cell_is_the_same(tmp_path: Path):
    tasks = [task_of(n_folds=3)]
    reference, store = tmp_path / "inline", tmp_path / "slurm"
    list(run(reference, tasks, InlineEngine()))
    engine = make_engine("slurm", folder=store, slurm=HERE, jobs=2)
    list(run(store, prepare(store, tasks).missing, engine))
    same_cells(reference, store)


def test_failures_and_deaths_are_told(tmp_path: Path):
    engine = make_engine("slurm", folder=tmp_path, slurm=HERE)
    outcomes = {o.task: o for o in engine.run([1, FAILING, DYING], square)}
    assert outcomes[1].result == 1
    assert "RuntimeError: two is too much" in outcomes[FAILING].death
    assert outcomes[DYING].result is None
    assert "The job died" in outcomes[DYING].death


def test_a_machine_without_slurm_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="no srun; log in to the cluster or choose"):
        make_engine("slurm", folder=tmp_path)


def test_wrong_options_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"does not accept the plan's \[slurm\]"):
        make_engine("slurm", folder=tmp_path, slurm={**HERE, "no_such_option": 1})
