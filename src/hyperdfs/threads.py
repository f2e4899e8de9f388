"""One thread for a fit: the networks are small, and sums then do not depend on the machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import torch
from threadpoolctl import ThreadpoolController


class _OneThread:
    """What fits that run side by side in one process share: the first saves, the last restores.

    BLAS and torch have one setting for the process. OpenMP has one for each thread that calls it,
    which every fit saves and restores for itself.
    """

    def __init__(self) -> None:
        self._lock, self._fits = Lock(), 0

    def enter(self) -> Any:
        """Returns what `leave` restores of the calling thread."""
        with self._lock:
            libraries = ThreadpoolController()
            if not self._fits:
                self._torch = torch.get_num_threads()
                self._blas = libraries.select(user_api="blas").limit(limits=1)
            own = libraries.select(user_api="openmp").limit(limits=1).__enter__()
            torch.set_num_threads(1)
            # A new thread takes over torch's setting when it first asks: now, not amid the fit.
            torch.get_num_threads()
            self._fits += 1
            return own

    def leave(self, own: Any) -> None:
        with self._lock:
            self._fits -= 1
            if not self._fits:
                self._blas.restore_original_limits()
            # OpenBLAS obeys one thread only, until that leaves a block: now the next one may.
            own.__exit__(None, None, None)
            if not self._fits:
                torch.set_num_threads(self._torch)


_ONE_THREAD = _OneThread()


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, torch, BLAS and OpenMP use a single thread; run folds or members side by side."""
    own = _ONE_THREAD.enter()
    try:
        yield
    finally:
        _ONE_THREAD.leave(own)
