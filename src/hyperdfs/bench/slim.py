"""A copy of a store that is small enough to be kept under version control."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hyperdfs.bench.cells import CellRecord, cell_paths, read_arrays, read_record, write_cell
from hyperdfs.errors import DataNotFoundError, InputError


def slim(root: Path, to: Path) -> int:
    """Copy every cell without its probabilities, which are nearly all of it; the number copied.

    Tables, curves and agreement of purchases need no more than what is left. A cell that is there
    already stays as it is, to the byte: version control then sees only what is new.
    """
    if to.resolve() == root.resolve():
        raise InputError(f"--to must be another folder than --out, got {to} for both.")
    paths = cell_paths(root)
    if not paths:
        raise DataNotFoundError(f"There are no cells in {root}; `hyperdfs bench run` makes some.")
    copied = 0
    for path in paths:
        record = read_record(path)
        if _has(to, record):
            continue
        arrays = replace(read_arrays(path), proba=None) if record.status == "done" else None
        write_cell(to, record, arrays)
        copied += 1
    return copied


def _has(root: Path, record: CellRecord) -> bool:
    path = root / record.key.path()
    try:
        return read_record(path).model_dump_json() == record.model_dump_json()
    except (FileNotFoundError, InputError):
        return False
