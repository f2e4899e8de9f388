"""Memory that stays with the process during a fit.

Every training step frees some large arrays and takes as many again. The C library gives such memory
back to the system at once, and the system clears it before it hands it out anew, page by page: a
twentieth of a step. Only glibc is told; elsewhere nothing happens.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # mallopt's names of its settings
LARGEST = 2**25  # bytes of an array that comes from the heap; glibc allows no more
KEPT = 2**30  # free bytes at the end of the heap that are not given back during a fit

_LOCK = Lock()
_INSIDE: list[ctypes.CDLL] = []  # one for each fit that runs


@contextmanager
def kept_memory() -> Iterator[None]:
    """Inside, freed memory is kept for the next arrays; afterwards it is given back.

    Of several at once in one process, the last to end gives it back.

    glibc raises both thresholds by itself as large arrays come and go. What is left behind is where
    that would end.
    """
    if platform.libc_ver()[0] != "glibc":
        yield
        return
    libc = ctypes.CDLL(None)
    with _LOCK:
        libc.mallopt(MMAP_THRESHOLD, LARGEST)
        libc.mallopt(TRIM_THRESHOLD, KEPT)
        _INSIDE.append(libc)
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE.pop()
            if not _INSIDE:
                libc.mallopt(TRIM_THRESHOLD, 2 * LARGEST)
                libc.malloc_trim(0)
