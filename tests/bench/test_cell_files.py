"""Cell files: what is written is read, what is not whole is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.bench.cells import (
    CellArrays,
    CellKey,
    CellRecord,
    cell_paths,
    read_arrays,
    read_record,
    read_records,
    write_cell,
)
from hyperdfs.bench.slim import slim
from hyperdfs.errors import DataNotFoundError, InputError


def record_of(**changes) -> CellRecord:
    key = CellKey(dataset="wine", label="hyperdfs", fold=changes.pop("fold", 0))
    return CellRecord(**{"key": key, "status": "done", "method": "hyperdfs", **changes})


def arrays_of(n: int = 5, budget: int = 3, classes: int = 2) -> CellArrays:
    rng = np.random.default_rng(n)
    return CellArrays(
        rows=np.arange(n, dtype=np.int32),
        labels=rng.integers(0, classes, n).astype(np.int16),
        order=rng.integers(0, 9, (n, budget)).astype(np.int16),
        proba=rng.random((n, budget + 1, classes)).astype(np.float16),
    )


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=4),
    st.text(max_size=20),
    st.integers(1, 30),
)
def test_round_trip(tmp_path_factory, curve, text, n):
    root = tmp_path_factory.mktemp("store")
    record = record_of(curves={"auroc": curve}, error=text, config={"encoder": text, "n": n})
    arrays = arrays_of(n)
    path = write_cell(root, record, arrays)
    again = read_record(path)
    assert again.curves["auroc"] == pytest.approx(curve, nan_ok=True)
    assert again.model_dump(exclude={"curves"}) == record.model_dump(exclude={"curves"})
    for name in ("rows", "labels", "order", "proba"):
        stored = getattr(read_arrays(path), name)
        assert np.array_equal(stored, getattr(arrays, name))
        assert stored.dtype == getattr(arrays, name).dtype
    assert cell_paths(root) == [path]


def test_every_key_has_a_file_of_its_own():
    keys = [
        CellKey(dataset=d, label=label, fold=f, seed=s, max_rows=m)
        for d in ("a", "b")
        for label in ("x", "y")
        for f in (0, 1, 11)
        for s in (0, 1)
        for m in (None, 20_000)
    ]
    assert len({key.path() for key in keys}) == len(keys)


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9, 0.999])
def test_a_file_cut_short_is_refused_with_a_remedy(tmp_path: Path, keep: float):
    path = write_cell(tmp_path, record_of(), arrays_of())
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content))])
    with pytest.raises(InputError, match="not a whole cell file; run its plan again"):
        read_record(path)


def test_damage_inside_is_noticed(tmp_path: Path):
    path = write_cell(tmp_path, record_of(), arrays_of())
    content = bytearray(path.read_bytes())
    content[60:70] = b"\xff" * 10
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a whole cell file"):
        read_record(path)


def test_a_write_that_fails_leaves_nothing(tmp_path: Path):
    class Unwritable:
        """An array whose content cannot be had."""

        def __array__(self, *_: object, **__: object) -> np.ndarray:
            raise MemoryError

    broken = CellArrays(Unwritable(), Unwritable(), Unwritable(), None)  # type: ignore[arg-type]
    with pytest.raises(MemoryError):
        write_cell(tmp_path, record_of(), broken)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_others_may_read_a_cell(tmp_path: Path):
    path = write_cell(tmp_path, record_of())
    probe = tmp_path / "plain"
    probe.touch()
    assert path.stat().st_mode == probe.stat().st_mode


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("Traceback\n  somewhere\nhyperdfs.errors.InputError: X: a, b.\n", "InputError: X: a, b."),
        ("The worker died with exit code 1.", "The worker died with exit code 1."),
        ("The worker died: it was ended by SIGKILL.", "The worker died: it was ended by SIGKILL."),
        ("", "no reason was recorded"),
    ],
)
def test_the_reason_of_a_failure_is_one_line(error: str, reason: str):
    assert record_of(status="failed", error=error).reason() == reason


def test_a_slim_copy_lacks_only_the_probabilities(tmp_path: Path):
    fat, thin = tmp_path / "fat", tmp_path / "thin"
    write_cell(fat, record_of(auac=0.5, curves={"f1_macro": [math.nan, 0.5]}), arrays_of(2000))
    write_cell(fat, record_of(fold=1, status="failed", error="no"))
    assert slim(fat, thin) == 2
    before, after = read_records(fat), read_records(thin)
    assert [r.model_dump_json() for r in before] == [r.model_dump_json() for r in after]
    whole, copy = read_arrays(cell_paths(fat)[0]), read_arrays(cell_paths(thin)[0])
    assert copy.proba is None
    assert np.array_equal(whole.order, copy.order)
    assert cell_paths(thin)[0].stat().st_size < 0.6 * cell_paths(fat)[0].stat().st_size
    first = cell_paths(thin)[0].read_bytes()
    write_cell(fat, record_of(fold=1), arrays_of(20))
    assert slim(fat, thin) == 1  # only what is new
    assert cell_paths(thin)[0].read_bytes() == first
    assert read_records(thin)[1].status == "done"
    cell_paths(thin)[0].write_bytes(b"torn")
    assert slim(fat, thin) == 1
    with pytest.raises(InputError, match="another folder"):
        slim(fat, fat)
    with pytest.raises(DataNotFoundError, match="no cells"):
        slim(tmp_path / "none", thin)
