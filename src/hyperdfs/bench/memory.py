"""The most memory a process held while it ran a cell."""

from __future__ import annotations

import re
import sys
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def reset_peak_memory() -> None:
    """Count from now on; matters where one process runs several cells. Linux only."""
    try:
        CLEAR.write_text("5")
    except OSError:
        return  # no such file, or not allowed: the peak is then that of the process


def peak_memory_mb() -> float:
    """The high-water mark of resident memory since the last reset, in MB; 0 where it is unknown."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text())
    except OSError:
        found = None
    if found:
        return int(found[1]) / 1024
    if sys.platform == "win32":
        return 0.0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**2 if sys.platform == "darwin" else 1024)
