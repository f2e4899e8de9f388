"""Images as tables: one square patch is one feature, its pixels are the columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from hyperdfs.errors import InputError
from hyperdfs.features import FeatureSpace


@dataclass(frozen=True)
class PatchGrid:
    """A grid of ``rows`` × ``columns`` patches of ``side`` × ``side`` pixels, row by row.

    Feature ``patch_r_c`` is the patch in row r and column c; its columns ``patch_r_c.0``, … are its
    pixels row by row, the channels of a pixel side by side. Columns stand patch by patch, so that
    the preprocessor takes the table as it is, without a copy.

    >>> PatchGrid(rows=7, columns=7, side=4).features().n_features
    49
    """

    rows: int
    columns: int
    side: int
    channels: int = 1

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Height and width, and the channels where there are several."""
        size = (self.rows * self.side, self.columns * self.side)
        return size if self.channels == 1 else (*size, self.channels)

    def features(self) -> FeatureSpace:
        names = [f"patch_{r}_{c}" for r in range(self.rows) for c in range(self.columns)]
        return grouped(names, self.side**2 * self.channels, kind="pixels")

    def cut(self, images: np.ndarray) -> np.ndarray:
        """Pixels in the order of the columns.

        Shape: ``(n, *image_shape)`` to ``(n, values)``.
        """
        if images.shape[1:] != self.image_shape:
            raise InputError(
                f"its images have shape {images.shape[1:]} where {self.image_shape} is known"
            )
        split = (len(images), self.rows, self.side, self.columns, self.side, self.channels)
        return images.reshape(split).transpose(0, 1, 3, 2, 4, 5).reshape(len(images), -1)

    def table(self, images: np.ndarray, *, white: int = 255) -> pd.DataFrame:
        """Whole-number intensities as a table of float32 in [0, 1]."""
        pixels = self.cut(images).astype(np.float32)
        pixels /= white
        return as_table(pixels, self.features())


def grouped(names: list[str], size: int, kind: str) -> FeatureSpace:
    """Features of ``size`` columns each."""
    columns = [tuple(f"{name}.{i}" for i in range(size)) for name in names]
    return FeatureSpace(tuple(names), tuple(columns), np.ones(len(names)), kind)


def as_table(values: np.ndarray, features: FeatureSpace) -> pd.DataFrame:
    """A table around the array, which is not copied."""
    names = [column for members in features.columns for column in members]
    return pd.DataFrame(values, columns=pd.Index(names), copy=False)
