"""Freed memory stays with the process during a fit, and not longer."""

from __future__ import annotations

import platform
import resource
from pathlib import Path

import numpy as np
import pytest

from hyperdfs.heap import kept_memory

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told")
PAGES = 2**22 // resource.getpagesize()  # of one array


def take_and_free() -> None:
    np.empty(2**20, np.float32).fill(1.0)


def faults(times: int) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        take_and_free()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


def test_the_same_memory_serves_again():
    with kept_memory():
        take_and_free()
        assert faults(10) < PAGES  # without: ten times as many


def test_afterwards_it_is_given_back():
    with kept_memory():
        arrays = [np.ones(2**20, np.float32) for _ in range(64)]
        full = resident()
        del arrays
        kept = resident()
    assert full - kept < 8 * PAGES
    assert kept - resident() > 32 * PAGES


def test_an_error_passes_through():
    with pytest.raises(ValueError, match="inside"), kept_memory():
        raise ValueError("inside")


def test_of_two_that_overlap_the_last_gives_it_back():
    first, second = kept_memory(), kept_memory()
    with first:
        second.__enter__()
        arrays = [np.ones(2**20, np.float32) for _ in range(64)]
        del arrays
        kept = resident()
    assert kept - resident() < 8 * PAGES
    second.__exit__(None, None, None)
    assert kept - resident() > 32 * PAGES
