"""What is learned from the training readings: the encoded columns of either style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hyperdfs.errors import InputError, listing
from hyperdfs.features import FeatureSpace
from hyperdfs.preprocess import encoding
from hyperdfs.preprocess.encoding import Columns
from hyperdfs.preprocess.readings import ColumnReader

# Beyond this many columns of the table a column per bin costs more than it tells.
WIDE = 200


def fit_columns(
    readings: np.ndarray,
    readers: Sequence[ColumnReader],
    space: FeatureSpace,
    *,
    imputed: np.ndarray | None,
    n_bins: int | None,
) -> Columns:
    """Encoded columns of every group, in group order; the paper's if ``imputed`` is given."""
    if space.kind == "pixels":
        return encoding.join(map(encoding.raw_columns, range(len(readers))))
    if imputed is not None:
        filled = fill(readings, imputed)
        return encoding.join(encoding.z_score_columns(i, filled[:, i]) for i in range(len(readers)))
    if n_bins is None and len(readers) > WIDE:
        n_bins = 0
    parts = _default_parts(readings, readers, space, n_bins)
    return encoding.join(parts)


def fill(readings: np.ndarray, imputed: np.ndarray) -> np.ndarray:
    """Readings with every missing one imputed."""
    return np.where(np.isnan(readings), imputed, readings)


def summarise(readings: np.ndarray, readers: Sequence[ColumnReader]) -> np.ndarray:
    """**Shape** ``(R, 3)``: min, median and max of every number; NaN for other kinds."""
    summary = np.full((len(readers), 3), np.nan)
    for i, reader in enumerate(readers):
        if reader.kind == "number":
            x = _present(readings, i)
            summary[i] = x.min(), np.median(x), x.max()
    return summary


def check_not_empty(readers: Sequence[ColumnReader]) -> None:
    """Raise if no column has a training value: there is nothing to learn from."""
    if all(reader.kind == "empty" for reader in readers):
        raise InputError(
            f"some column must have a value in some training row, got none in "
            f"{listing(reader.name for reader in readers)}; check how the table was read"
        )


def check_pixels(readings: np.ndarray, readers: Sequence[ColumnReader]) -> None:
    """Raise unless all readings are pixel intensities."""
    for reader in readers:
        if reader.kind == "empty":
            raise InputError(f"pixel {reader.name!r} has no value in any training row; drop it")
        if reader.kind == "category":
            raise InputError(f"pixels must be numbers, got text in column {reader.name!r}")
    bad = (readings < 0) | (readings > 1)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"row {row}: pixels must lie in [0, 1], got {readings[row, column]} in column "
            f"{readers[column].name!r}; divide bytes by 255"
        )


def _default_parts(
    readings: np.ndarray, readers: Sequence[ColumnReader], space: FeatureSpace, n_bins: int | None
) -> Iterator[Columns]:
    first = 0
    for members in space.columns:
        sources = range(first, first + len(members))
        measured = ~np.isnan(readings[:, sources]).all(axis=1)
        for i in sources:
            yield _default_columns(readings, readers[i], i, n_bins)
            if readers[i].kind == "empty":
                continue
            # In a group of one column, "blank" and "not observed" are the same thing.
            blank = np.isnan(readings[measured, i]).mean()
            if blank > 0:
                yield encoding.blank_column(i, float(blank))
        first += len(members)


def _default_columns(
    readings: np.ndarray, reader: ColumnReader, source: int, n_bins: int | None
) -> Columns:
    x = _present(readings, source)
    if reader.kind == "empty":
        return encoding.raw_columns(source)  # always 0, for the reading is always missing
    if reader.kind != "number":
        return encoding.category_columns(source, x, reader.n_codes)
    return encoding.number_columns(
        source, x, encoding.default_bins(len(x)) if n_bins is None else n_bins
    )


def _present(readings: np.ndarray, source: int) -> np.ndarray:
    x = readings[:, source].astype(np.float64)
    return x[~np.isnan(x)]
