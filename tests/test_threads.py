"""Fits use one thread each, and leave the settings of the process as they found them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from threadpoolctl import threadpool_info

from hyperdfs.threads import one_thread

THREADS = 3  # more than one, on any machine


@pytest.fixture(autouse=True)
def several() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    yield
    torch.set_num_threads(before)


def settings() -> list[int]:
    """As the calling thread has them: torch's, and those of every library."""
    return [torch.get_num_threads(), *(library["num_threads"] for library in threadpool_info())]


class Worker:
    """Another thread, which does one thing at a time."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)

    def do(self, call: Callable[..., Any], *args: Any) -> Any:
        return self._pool.submit(call, *args).result(timeout=60)


def test_one_thread_inside_and_all_as_before_afterwards() -> None:
    before = settings()
    with one_thread():
        assert set(settings()) == {1}
        with one_thread():
            assert set(settings()) == {1}
        assert set(settings()) == {1}
    assert settings() == before
    assert before[0] == THREADS


def test_an_error_passes_through() -> None:
    with pytest.raises(ValueError, match="inside"), one_thread():
        raise ValueError("inside")
    assert torch.get_num_threads() == THREADS


@pytest.mark.parametrize("fresh", [True, False], ids=["a new thread", "one that used torch"])
def test_the_first_to_start_ends_first(fresh: bool) -> None:
    worker, other, before = Worker(), one_thread(), settings()
    if not fresh:
        assert worker.do(torch.get_num_threads) == THREADS
    with one_thread():
        worker.do(other.__enter__)
        assert set(worker.do(settings)) == {1}
    assert torch.get_num_threads() == THREADS
    assert set(worker.do(settings)) == {1}  # as long as it lasts
    worker.do(other.__exit__, None, None, None)
    assert settings() == before
    assert worker.do(torch.get_num_threads) == THREADS
    assert Worker().do(torch.get_num_threads) == THREADS


def test_the_first_to_start_ends_last() -> None:
    worker, other, before = Worker(), one_thread(), settings()
    assert worker.do(torch.get_num_threads) == THREADS
    with one_thread():
        worker.do(other.__enter__)
        worker.do(other.__exit__, None, None, None)
        assert set(settings()) == {1}
        assert worker.do(torch.get_num_threads) == THREADS
    assert settings() == before
    assert Worker().do(torch.get_num_threads) == THREADS
