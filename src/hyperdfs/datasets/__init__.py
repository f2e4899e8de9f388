"""Data sets by name: generators with their exact Bayes oracle, real tables, images, own tables."""

from __future__ import annotations

from hyperdfs.datasets.base import Ceiling, Dataset, DatasetInfo, Oracle
from hyperdfs.datasets.cards import is_card
from hyperdfs.datasets.catalog import dataset_info, dataset_names, load_dataset
from hyperdfs.datasets.prices import CostSheet, Price

__all__ = [
    "Ceiling",
    "CostSheet",
    "Dataset",
    "DatasetInfo",
    "Oracle",
    "Price",
    "dataset_info",
    "dataset_names",
    "is_card",
    "load_dataset",
]
