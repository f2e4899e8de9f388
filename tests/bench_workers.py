"""Work for the tests of the engines, which imports nothing heavy: its processes start fast."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

FAILING, DYING = 2, 3


def square(x: int) -> int:
    """A square, but 2 is an error and 3 ends like a process that takes too much memory."""
    if x == FAILING:
        raise RuntimeError("two is too much")
    if x == DYING:
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def sleep_long(folder: str) -> None:
    """Says who it is, then takes its time."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(600)


def either(task: int | str) -> int | None:
    return square(task) if isinstance(task, int) else sleep_long(task)
