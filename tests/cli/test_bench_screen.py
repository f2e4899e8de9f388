"""What a running benchmark shows of cells that come in."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from bench_stores import record
from hyperdfs.bench.runner import Agenda
from hyperdfs.cli.bench_screen import Screen


def test_a_warning_of_a_data_set_is_told_once(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=80)
    came = [
        record(name, "vip", [0.1, 0.2, 0.3], fold=fold) for name in ("a", "b") for fold in range(3)
    ]
    with Screen(console, tmp_path, Agenda([], [], [])) as screen:
        for cell in came:
            cell.warnings = ["No training row has a value of 'x'."]
            screen.show(cell)
    told = [line for line in console.file.getvalue().splitlines() if "note" in line]  # type: ignore[attr-defined]
    assert told == [f"{name}  note  No training row has a value of 'x'." for name in ("a", "b")]
