"""A decision is taken once per folder, and its time is not forgotten."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.recall import _digest, decide, recalling


def never() -> int:
    raise AssertionError("taken again")


def slow() -> int:
    """Takes 0.02 s by either clock; the two do not run quite alike."""
    clocks = time.process_time, time.perf_counter
    ends = [clock() + 0.02 for clock in clocks]
    while any(clock() < end for clock, end in zip(clocks, ends, strict=True)):
        pass
    return 2


def test_the_second_fit_reads_what_the_first_decided(tmp_path):
    with recalling(tmp_path / "new") as first:
        assert decide(slow, [b"rows"]) == 2
    with recalling(tmp_path / "new") as second:
        assert decide(never, [b"rows"]) == 2
        assert decide(lambda: 1, [b"other rows"]) == 1
    assert (first.cpu, first.wall) == (0.0, 0.0)
    assert second.cpu >= 0.02
    assert second.wall >= 0.02


def test_nothing_is_kept_without_a_folder(tmp_path):
    with recalling(tmp_path):
        pass
    assert decide(lambda: 1, [b"rows"]) == 1
    assert decide(lambda: 2, [b"rows"]) == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"choice": "two"}', '{"choice": 1}'])
def test_a_file_that_is_not_whole_is_written_again(tmp_path, content):
    with recalling(tmp_path):
        decide(lambda: 2, [b"rows"])
    (kept,) = tmp_path.iterdir()
    kept.write_text(content)
    with recalling(tmp_path):
        assert decide(lambda: 0, [b"rows"]) == 0
        assert decide(never, [b"rows"]) == 0


def test_a_failing_decision_is_not_kept(tmp_path):
    with recalling(tmp_path):
        with pytest.raises(AssertionError):
            decide(never, [b"rows"])
        assert decide(lambda: 1, [b"rows"]) == 1


@settings(deadline=None)
@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_only_the_same_inputs_have_the_same_name(one, other):
    assert (_digest(one) == _digest(other)) == (one == other)
