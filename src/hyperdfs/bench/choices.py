"""From what a user writes after --datasets to data sets: names, groups of names, cards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hyperdfs.bench.paper import COUNTERPARTS
from hyperdfs.datasets import Dataset, dataset_info, dataset_names, load_dataset
from hyperdfs.datasets.cards import is_card
from hyperdfs.datasets.files import obtain_files
from hyperdfs.datasets.table_files import file_rows
from hyperdfs.errors import InputError, listing
from hyperdfs.preprocess.readings import fit_reader, read_table

KINDS = {"tables": "table", "synthetic": "synthetic", "images": "images"}
GROUPS = (*KINDS, "paper")


@dataclass(frozen=True)
class Choice:
    """A data set to run: its name in the store, what loads it, and its size.

    largest_class : its rows; there cannot be more folds.
    fingerprint : of its content, where it had to be read: a table of one's own may change, one of
        the catalog is checked whenever it is loaded.
    notes : what looks wrong in a table of one's own.
    """

    name: str
    source: str
    n_rows: int
    largest_class: int
    fingerprint: str = ""
    notes: tuple[str, ...] = ()


def choose(names: Iterable[str]) -> tuple[list[Choice], dict[str, str]]:
    """The data sets that are meant, and those of a group that are left out with the reason.

    A data set that is named must be at hand or be downloaded; a group means what is at hand.
    """
    chosen: dict[str, Choice] = {}
    left_out: dict[str, str] = {}
    for name in names:
        for member in members(name) if name in GROUPS else [name]:
            if name in GROUPS and not dataset_info(member).at_hand:
                left_out[member] = "its file is not at hand"
                continue
            choice = _choice(member)
            if chosen.setdefault(choice.name, choice).source != choice.source:
                raise InputError(
                    f"Two data sets must not share a name, got {choice.name!r} from "
                    f"{chosen[choice.name].source} and {choice.source}; rename one in its card."
                )
    if left_out and not chosen:
        raise InputError(
            f"At least one data set must be at hand, but {listing(left_out)} are not; "
            "`hyperdfs datasets NAME` tells which files are needed."
        )
    return list(chosen.values()), {n: why for n, why in left_out.items() if n not in chosen}


def members(group: str) -> list[str]:
    """The names in the catalog that a group stands for.

    >>> members("synthetic")[:2]
    ['synpairs', 'proxysub']
    """
    if group == "paper":
        return [name for name in dataset_names() if name in COUNTERPARTS]
    return [name for name in dataset_names() if dataset_info(name).kind == KINDS[group]]


def load_source(source: str) -> Dataset:
    """The data set that a choice means; ``heart@published`` is one with its published prices."""
    if is_card(source):
        return load_dataset(source)
    name, _, costs = source.partition("@")
    return load_dataset(name, costs=costs or None)


def _choice(name: str) -> Choice:
    if name in dataset_names():
        info = dataset_info(name)
        if info.files:
            obtain_files(name, info.files)  # once, and not by every worker at the same time
        return Choice(name, name, info.n_rows, round(info.majority_share * info.n_rows))
    data = load_source(name)
    own = (data.name, str(Path(name).resolve())) if is_card(name) else (name, name)
    if is_card(name):
        check_cells(data, Path(name))
    largest = int(np.bincount(data.y).max())
    return Choice(*own, len(data.y), largest, data.fingerprint, data.notes)


def check_cells(data: Dataset, path: Path) -> None:
    """Raise at once for a cell that cannot be read, and not in one fold after the other."""
    with file_rows(f"the table of {path.name}", data.file_rows):
        readers = [fit_reader(name, data.X[name], pool=True) for name in data.X.columns]
        read_table(data.X, readers)
