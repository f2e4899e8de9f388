"""Small tasks for the tests of the benchmark, and workers that misbehave in real processes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from small_tables import TINY

from hyperdfs.bench.cells import CellKey
from hyperdfs.bench.protocol import CellTask


def task_of(dataset: str = "wine", label: str = "tiny", **changes: Any) -> CellTask:
    """A cell that takes a fraction of a second."""
    key = {name: changes.pop(name) for name in ("fold", "seed", "max_rows") if name in changes}
    return CellTask(
        **{
            "key": CellKey(dataset=dataset, label=label, **{"fold": 0, **key}),
            "source": dataset,
            "method": "hyperdfs",
            "overrides": dict(TINY),
            **changes,
        }
    )


def square(x: int) -> int:
    return x * x


def square_or_fail(x: int) -> int:
    if x == 2:
        raise RuntimeError("two is too much")
    return x * x


def square_or_die(x: int) -> int:
    """What the kernel does to a process that takes too much memory."""
    if x == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def sleep_long(folder: str) -> None:
    """Says who it is, then takes its time."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(600)
