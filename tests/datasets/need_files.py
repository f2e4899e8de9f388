"""Tests that read a data file skip by its name where it is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperdfs.datasets import dataset_info
from hyperdfs.datasets.files import find_files


def need(name: str) -> Path:
    """The folder of the first form of a data set's files."""
    first = dataset_info(name).files[:1]
    if not first:
        return Path()
    found = find_files(first)
    if found is None:
        pytest.skip(f"needs {' and '.join(file.name for file in first[0])} in $HYPERDFS_DATA")
    return found[0].parent
