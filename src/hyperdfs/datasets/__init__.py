"""Data sets by name: synthetic ones with their exact Bayes oracle, and real tables."""

from __future__ import annotations

from hyperdfs.datasets.base import Ceiling, Dataset, DatasetInfo, Oracle
from hyperdfs.datasets.catalog import dataset_info, dataset_names, load_dataset

__all__ = [
    "Ceiling",
    "Dataset",
    "DatasetInfo",
    "Oracle",
    "dataset_info",
    "dataset_names",
    "load_dataset",
]
