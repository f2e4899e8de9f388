"""The part of a store that a page is made of: finished cells by data set and label."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hyperdfs.bench.cells import CellRecord, read_arrays
from hyperdfs.bench.table import Results
from hyperdfs.bench.table_groups import CONSTANT


@dataclass(frozen=True)
class Purchases:
    """What one method bought for the test rows of a data set, sorted by row."""

    rows: np.ndarray
    order: np.ndarray
    predicted: np.ndarray | None  # class after the last purchase; None in a slim store


@dataclass(frozen=True)
class Store:
    """Records of a store by the names of its table."""

    root: Path
    results: Results
    cells: dict[tuple[str, str], list[CellRecord]]

    def of(self, dataset: str) -> dict[str, list[CellRecord]]:
        """The cells of a data set by label, in the order of the tables.

        The constant prediction, which buys anything, is left out if there is something else.
        """
        labels = [label for label in self.results.labels if (dataset, label) in self.cells]
        labels = [label for label in labels if label != CONSTANT] or labels
        return {label: self.cells[dataset, label] for label in labels}

    def purchases(self, dataset: str, label: str) -> Purchases:
        """Of all folds, with the lowest seed of each."""
        cells: dict[int, CellRecord] = {}
        for cell in sorted(self.cells[dataset, label], key=lambda cell: -cell.key.seed):
            cells[cell.key.fold] = cell
        parts = [read_arrays(self.root / cell.key.path()) for cell in cells.values()]
        rows = np.concatenate([part.rows for part in parts])
        by_row = np.argsort(rows, kind="stable")
        last = [None if part.proba is None else part.proba[:, -1].argmax(1) for part in parts]
        known = [part for part in last if part is not None]
        return Purchases(
            rows=rows[by_row],
            order=np.concatenate([part.order for part in parts])[by_row],
            predicted=np.concatenate(known)[by_row] if len(known) == len(parts) else None,
        )


def open_store(root: Path, records: list[CellRecord], results: Results) -> Store:
    """Finished cells under the names that the tables give their data sets."""
    names = {
        (score.source, score.max_rows, score.label): key for key, score in results.scores.items()
    }
    cells: dict[tuple[str, str], list[CellRecord]] = defaultdict(list)
    for record in records:
        key = names.get((record.key.dataset, record.key.max_rows, record.key.label))
        if key is not None and record.status == "done":
            cells[key].append(record)
    return Store(root, results, dict(cells))
