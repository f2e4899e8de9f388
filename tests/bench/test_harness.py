"""`benchmarks/harness.py`: what the benchmark itself costs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bench_stores import record, write_store
from hyperdfs.bench.cells import CellRecord, Seconds, read_records

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "harness.py"
CURVE = [0.2, 0.5, 0.6, 0.7, 0.8]


@pytest.fixture(scope="module")
def harness() -> ModuleType:
    spec = importlib.util.spec_from_file_location("harness", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cell(label: str, fold: int = 0, **seconds: float) -> CellRecord:
    made = record("wine", label, CURVE, fold=fold)
    return made.model_copy(update={"seconds": Seconds(**seconds)})


CELLS = [
    cell("hyperdfs", 0, fit_wall=15, acquire_wall=4, total_wall=20),
    # 30 of these seconds were spent in another cell: 2 of its own 20 are overhead.
    cell("hyperdfs", 1, fit_wall=44, acquire_wall=4, total_wall=50, recalled_wall=30),
    cell("random", 0, fit_wall=1, acquire_wall=1, total_wall=9),  # too short to tell
]


def test_the_share_is_of_the_cells_own_time(harness: ModuleType) -> None:
    found = harness.overheads(CELLS)
    assert found == {"hyperdfs": pytest.approx([0.05, 0.1]), "all": pytest.approx([0.05, 0.1])}
    [(n_cells, hours)] = harness.hyperdfs_hours(CELLS).values()
    assert (n_cells, hours) == (2, pytest.approx(70 / 2 / 3600))


def test_copies_have_names_of_their_own(harness: ModuleType, tmp_path: Path) -> None:
    harness.copy_cells(write_store(tmp_path / "store", CELLS), tmp_path / "copies", 7)
    names = [copy.key.dataset for copy in read_records(tmp_path / "copies")]
    assert names == ["wine-0"] * 3 + ["wine-1"] * 3 + ["wine-2"]


def test_it_prints_what_it_found(
    harness: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = write_store(tmp_path / "store", CELLS)
    monkeypatch.setattr(harness, "COPIES", 20)
    monkeypatch.setattr(sys, "argv", ["harness.py", str(store)])
    harness.main()
    text = capsys.readouterr().out
    assert "7.50" in text
    assert "20 cells: read in 0." in text
    assert "Hyper-DFS, tables: 2 cells, 0.01 h on 2 cores." in text
    monkeypatch.setattr(sys, "argv", ["harness.py", str(tmp_path / "none")])
    with pytest.raises(SystemExit):
        harness.main()
    assert "must hold cells" in capsys.readouterr().err
