"""Cells as an array of SLURM jobs, through submitit.

Jobs write into the store themselves. They go on when the process that submitted them is gone; a
later run finds what they have stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperdfs.bench.engines.base import Outcome, Result, Task
from hyperdfs.errors import InputError, MissingExtraError

LOGS = ".slurm"
DEFAULTS = {"timeout_min": 12 * 60, "cpus_per_task": 1, "mem_gb": 8, "name": "hyperdfs"}
POLL = 2.0  # seconds between looks at the jobs


class SlurmEngine:
    """A job for each task, at most `jobs` at a time.

    folder : where a folder of the jobs' logs is made; all machines must share it.
    options : what submitit's executor is told, e.g. ``{"slurm_partition": "cpu", "mem_gb": 16}``;
        ``{"cluster": "local"}`` runs the jobs on this machine, to try a plan without SLURM.
    """

    def __init__(
        self, folder: Path, *, jobs: int | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        self._submitit = _import_submitit()
        told = {**DEFAULTS, **(options or {})}
        try:
            self._executor = self._submitit.AutoExecutor(
                folder.resolve() / LOGS, cluster=told.pop("cluster", "slurm")
            )
        except RuntimeError:
            raise InputError(
                "The slurm engine must run where SLURM is, but there is no srun; log in to the "
                "cluster or choose another --engine."
            ) from None
        if jobs is not None:
            told["slurm_array_parallelism"] = jobs
        try:
            self._executor.update_parameters(**told)
        except (NameError, TypeError, ValueError) as error:
            raise InputError(f"submitit does not accept the plan's [slurm]: {error}.") from None

    def run(
        self, tasks: Sequence[Task], work: Callable[[Task], Result]
    ) -> Generator[Outcome[Task, Result], None, None]:
        running = dict(zip(self._executor.map_array(work, list(tasks)), tasks, strict=True))
        try:
            while running:
                for job in [job for job in running if job.done()]:
                    yield self._outcome(job, running.pop(job))
                time.sleep(POLL if running else 0)
        finally:
            for job in running:
                job.cancel()

    def _outcome(self, job: Any, task: Task) -> Outcome[Task, Any]:
        try:
            return Outcome(task, job.result())
        except self._submitit.core.utils.FailedJobError as error:  # the work raised
            return Outcome(task, None, str(error))
        except self._submitit.core.utils.UncompletedJobError as error:
            first = str(error).strip().splitlines()[0]
            return Outcome(task, None, f"The job died: {first} (log {job.paths.stderr})")


def _import_submitit() -> Any:
    try:
        import submitit
    except ImportError:
        raise MissingExtraError(
            "The slurm engine needs submitit; install it with: pip install 'hyperdfs[slurm]'"
        ) from None
    return submitit
