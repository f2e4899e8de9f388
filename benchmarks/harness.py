"""What the benchmark itself costs, from a store of results.

    python benchmarks/harness.py results/quick

Overhead is the wall time of a cell beyond fit and purchases: reading the data, cutting folds,
scoring, safety nets. The start of its process is not in it. Its share is of what the cell itself
took, in cells longer than 10 s. Then: processor seconds to read and tabulate 2,000 cells, copies of
those in the store under other names; and how long the cells of Hyper-DFS take on two cores, each
with all of its trial of encodings, as if no other method had run.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from hyperdfs.bench.cells import (
    CellRecord,
    cell_paths,
    read_arrays,
    read_record,
    read_records,
    write_cell,
)
from hyperdfs.bench.table import KIND_TITLES, tabulate
from hyperdfs.bench.table_grid import grids

SHORTEST = 10.0  # seconds; in a shorter cell the share says little
MOST = 0.05
COPIES = 2000
CORES = 2


def overhead(record: CellRecord) -> float:
    """The share of a cell's own time that is neither fit nor purchases."""
    seconds = record.seconds
    # A recalled trial is in the total and in the fit, so that it cancels out above the line.
    beyond = seconds.total_wall - seconds.fit_wall - seconds.acquire_wall
    return beyond / seconds.spent_wall


def overheads(records: Iterable[CellRecord]) -> dict[str, list[float]]:
    """The shares of the cells that are long enough, by label; all of them under "all"."""
    shares: dict[str, list[float]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.key.label):
        if record.status == "done" and record.seconds.spent_wall > SHORTEST:
            shares[record.key.label].append(overhead(record))
    return {**shares, "all": [share for each in shares.values() for share in each]}


def copy_cells(root: Path, to: Path, n_cells: int) -> None:
    """Write n_cells cells, each data set again under another name when the store is used up."""
    paths = cell_paths(root)
    for i, path in enumerate(islice(cycle(paths), n_cells)):
        record = read_record(path)
        name = f"{record.key.dataset}-{i // len(paths)}"
        key = record.key.model_copy(update={"dataset": name})
        arrays = read_arrays(path) if record.status == "done" else None
        write_cell(to, record.model_copy(update={"key": key}), arrays)


def reading_seconds(root: Path, n_cells: int) -> tuple[float, float]:
    """Processor seconds to read so many cells, and to make the tables of them."""
    with tempfile.TemporaryDirectory() as folder:
        copy_cells(root, Path(folder), n_cells)
        started = time.process_time()
        records = read_records(Path(folder))
        read = time.process_time()
        grids(tabulate(records))
        done = time.process_time()
    return read - started, done - read


def hyperdfs_hours(records: Iterable[CellRecord]) -> dict[str, tuple[int, float]]:
    """By kind of data: the cells of Hyper-DFS, and their hours with all cores busy."""
    seconds: dict[str, list[float]] = {kind: [] for kind in KIND_TITLES}
    for record in records:
        if record.status == "done" and record.key.label == "hyperdfs":
            seconds[record.kind].append(record.seconds.total_wall)
    return {kind: (len(each), sum(each) / CORES / 3600) for kind, each in seconds.items() if each}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", type=Path, help="folder that `hyperdfs bench run` filled")
    store = parser.parse_args().store
    records = read_records(store)
    if not records:
        parser.error(f"the store must hold cells, {store} has none; run `hyperdfs bench run` first")
    console = Console()
    shares = Table("Method", title=f"Overhead in cells longer than {SHORTEST:.0f} s")
    for heading in ("Cells", "Median %", "95th percentile %", f"Above {MOST:.0%}"):
        shares.add_column(heading, justify="right")
    for label, found in overheads(records).items():
        if found:
            middle, high = np.percentile(found, [50, 95])
            above = sum(share > MOST for share in found)
            shares.add_row(
                label, str(len(found)), f"{100 * middle:.2f}", f"{100 * high:.2f}", str(above)
            )
    console.print(shares)
    read, tabulated = reading_seconds(store, COPIES)
    console.print(f"{COPIES:,} cells: read in {read:.2f} s, tabulated in {tabulated:.2f} s.")
    for kind, (n_cells, hours) in hyperdfs_hours(records).items():
        title = KIND_TITLES[kind].lower()
        console.print(f"Hyper-DFS, {title}: {n_cells} cells, {hours:.2f} h on {CORES} cores.")


if __name__ == "__main__":
    main()
