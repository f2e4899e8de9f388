"""Cells as tasks of a Ray cluster: one started on this machine, or one that runs already.

Workers write into the store themselves, so its folder must be one that all machines share.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import Any

from hyperdfs.bench.engines.base import Outcome, Result, Task
from hyperdfs.errors import MissingExtraError

RETRIES = 2  # of a task whose worker died; Ray starts a new worker
STORE = 100 * 2**20  # bytes for Ray's object store: only records travel
DATA = "HYPERDFS_DATA"


class RayEngine:
    """Up to `jobs` tasks at a time on the cluster at `address`; without one, on a cluster of this
    machine that ends with the run."""

    def __init__(self, *, jobs: int | None = None, address: str | None = None) -> None:
        self._ray = _import_ray()
        self._jobs, self._address = jobs, address

    def run(
        self, tasks: Sequence[Task], work: Callable[[Task], Result]
    ) -> Generator[Outcome[Task, Result], None, None]:
        ray = self._ray
        own = not ray.is_initialized()
        if own:
            ray.init(**self._cluster())

        @ray.remote(num_cpus=1, max_retries=RETRIES)
        def call(task: Task) -> Result:  # Ray takes functions only, no partial ones
            return work(task)

        waiting, running = deque(tasks), dict[Any, Task]()
        at_a_time = self._jobs or len(tasks)
        try:
            while waiting or running:
                for task in list(islice(waiting, at_a_time - len(running))):
                    running[call.remote(waiting.popleft())] = task
                [ready], _ = ray.wait(list(running), num_returns=1)
                yield self._outcome(ready, running.pop(ready))
        finally:
            for reference in running:
                ray.cancel(reference, force=True)
            if own:
                ray.shutdown()

    def _cluster(self) -> dict[str, Any]:
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        if self._address is not None:
            data = {DATA: os.environ[DATA]} if DATA in os.environ else {}
            return {"address": self._address, "runtime_env": {"env_vars": data}, **quiet}
        return {
            "num_cpus": self._jobs,
            "include_dashboard": False,
            "object_store_memory": STORE,
            **quiet,
        }

    def _outcome(self, reference: Any, task: Task) -> Outcome[Task, Any]:
        try:
            return Outcome(task, self._ray.get(reference))
        except self._ray.exceptions.RayTaskError as error:
            return Outcome(task, None, _plain(error))
        except self._ray.exceptions.RayError as error:
            return Outcome(task, None, f"The worker died {RETRIES + 1} times: {_plain(error)}")


def _plain(error: Exception) -> str:
    """The message without the colours of a terminal."""
    return re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtraError(
            "The ray engine needs Ray; install it with: pip install 'hyperdfs[ray]'"
        ) from None
    return ray
