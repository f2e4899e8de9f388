"""A table for a saved model: its cells as the model knows its columns, and what does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hyperdfs.cli.files import read_table
from hyperdfs.cli.model_columns import ModelColumn, model_columns
from hyperdfs.datasets.table_cells import read_gaps, without_missing_words
from hyperdfs.errors import listing
from hyperdfs.preprocess.readings import label_of

if TYPE_CHECKING:
    from hyperdfs.estimator import DFSClassifier

# From this share of a column's cells on, categories that the model does not know are reported.
UNKNOWN_SHARE = 0.2


def read_for_model(clf: DFSClassifier, path: Path, target: str | None) -> pd.DataFrame:
    """The rows of a file; what training took for text or for numbers is that here as well."""
    known = model_columns(clf)
    text = [column.name for column in known.values() if column.kind == "category"]
    if target is not None and _are_words(clf.classes_):
        text.append(target)
    rows = read_table(path, text=text)
    if target in rows.columns:
        rows[target] = _labels(clf, rows[target])
    for name in set(known) & set(rows.columns) - {target}:
        if known[name].kind == "category":
            labels = {cell: _label(cell, known[name]) for cell in rows[name].unique()}
            rows[name] = rows[name].map(labels, na_action="ignore")
        else:
            rows[name] = without_missing_words(rows[name])
    return rows


def unknown_categories(clf: DFSClassifier, rows: pd.DataFrame) -> Iterator[str]:
    """A sentence about every column in which much is none of the categories that were learned."""
    for column in model_columns(clf).values():
        if not column.categories or column.kind != "category" or column.name not in rows:
            continue
        cells = rows[column.name].dropna()
        strange = cells[~cells.isin(column.categories)]
        if len(strange) > UNKNOWN_SHARE * len(cells):
            yield (
                f"column {column.name!r}: {len(strange) / len(cells):.0%} of its cells are none of "
                f"the categories that the model learned, such as {str(strange.iloc[0])!r} beside "
                f"{listing(column.categories, 4)}."
            )


def _label(cell: Any, column: ModelColumn) -> Any:
    """A category's text as training wrote it: 2.0 is 2 where only 2 is known."""
    if pd.isna(cell):
        return cell
    written = label_of(cell, column.name)
    try:
        plain = label_of(float(written), column.name)
    except ValueError:
        return column.cell(written)
    return plain if plain in column.categories and written not in column.categories else written


def _labels(clf: DFSClassifier, cells: pd.Series) -> pd.Series:
    """Labels, where a word for a missing value is missing unless it is a class."""
    if _are_words(clf.classes_):
        return cells.mask(without_missing_words(cells).isna() & ~cells.isin(clf.classes_))
    return read_gaps(cells.to_frame())[0][cells.name]


def _are_words(labels: np.ndarray) -> bool:
    """Whether classes are text that cannot all be read as numbers."""
    if labels.dtype.kind in "biuf":
        return False
    return bool(pd.to_numeric(pd.Series(labels.astype(str)), errors="coerce").isna().any())
