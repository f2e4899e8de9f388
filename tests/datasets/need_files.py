"""Tests that read a data file skip by its name where it is absent."""

from __future__ import annotations

import pytest

from hyperdfs.datasets import dataset_info


def need(name: str) -> None:
    info = dataset_info(name)
    if not info.at_hand:
        pytest.skip(f"needs {info.files[0][0].name} in $HYPERDFS_DATA")
