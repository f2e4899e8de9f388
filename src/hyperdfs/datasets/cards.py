"""A user's own table as a data set: a file, and a small TOML card that describes it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hyperdfs.datasets.base import Dataset
from hyperdfs.datasets.oddities import copies, oddities
from hyperdfs.datasets.reading import text_of
from hyperdfs.datasets.table_cells import read_gaps
from hyperdfs.datasets.table_files import (
    PARQUET,
    SEPARATORS,
    need_columns,
    read_table,
    table_suffix,
)
from hyperdfs.datasets.table_labels import need_classes, split_target
from hyperdfs.errors import DataNotFoundError, InputError, suggest
from hyperdfs.features import FeatureSpace

SUFFIX = ".toml"
# The name becomes a folder of benchmark results.
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"


class Card(BaseModel):
    """The keys of a card; only ``target`` is required.

    ``file`` is relative to the card, and by default the table of the same name beside it. ``drop``
    are columns that are no features, ``categorical`` numbers that only name categories, ``missing``
    the words for a missing value in every column; beside numbers ``?``, ``NA`` and the like always
    are. Without ``costs`` every feature costs 1.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    target: str
    name: str | None = Field(None, pattern=NAME)
    file: str | None = None
    drop: list[str] = Field(default_factory=list)
    categorical: list[str] = Field(default_factory=list)
    missing: list[str] = Field(default_factory=list)
    groups: dict[str, list[str]] = Field(default_factory=dict)
    costs: dict[str, float] | None = None
    description: str = "a table of one's own"
    licence: str = "not stated"
    source: str = "not stated"


def is_card(name: object) -> bool:
    """Whether this names a card or a table on disk rather than an entry of the catalog.

    >>> is_card("clinic.toml"), is_card("clinic.csv.gz"), is_card("wine")
    (True, True, False)
    """
    known = (SUFFIX, *SEPARATORS, *PARQUET)
    return isinstance(name, str | Path) and table_suffix(Path(name)) in known


def load_card(path: Path) -> Dataset:
    """The data set of a card, or of a table that has a card of the same name beside it."""
    card_path, table_path = path, None
    if table_suffix(path) != SUFFIX:
        card_path, table_path = path.with_name(_stem(path) + SUFFIX), path
    card = read_card(card_path)
    rows = read_table(table_path or _table_of(card, card_path), card.missing)
    need_columns(rows, [card.target, *card.drop, *card.categorical])
    _check_roles(card, card_path)
    rows, notes = read_gaps(rows.drop(columns=card.drop))
    X, labels, without = split_target(rows, card.target)
    need_classes(rows[card.target])
    notes += oddities(X.drop(columns=card.categorical), _in_card)
    notes += copies(rows)
    if without:
        notes.append(f"{without:,} of {len(rows):,} rows have no label and are left out")
    for column in card.categorical:
        X[column] = X[column].map(text_of, na_action="ignore")
    classes, y = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"{card_path}: the target {card.target!r} must hold two classes or more.")
    return Dataset(
        name=card.name or _stem(card_path),
        X=X.reset_index(drop=True),
        file_rows=tuple(X.index.tolist()),
        notes=tuple(notes),
        y=y.astype(np.int64),
        features=FeatureSpace.from_columns(X.columns, groups=card.groups, costs=card.costs),
        n_classes=len(classes),
        class_names=tuple(str(label) for label in classes),
        oracle=None,
        kind="table",
        licence=card.licence,
        source=card.source,
        description=card.description,
    )


def _check_roles(card: Card, path: Path) -> None:
    """A column has one role."""
    if card.target in card.drop:
        raise InputError(f"{path}: the target {card.target!r} cannot be dropped.")
    for column in card.categorical:
        if column == card.target or column in card.drop:
            role = "the target" if column == card.target else "dropped"
            raise InputError(
                f"{path}: categorical must name features, {column!r} is {role}; leave it out there."
            )


def _in_card(name: str) -> str:
    """How a card leaves a column out."""
    return f"drop = [{json.dumps(name, ensure_ascii=False)}] in the card"


def read_card(path: Path) -> Card:
    """The card in a TOML file."""
    if not path.is_file():
        raise DataNotFoundError(
            f"a table of your own needs a card, there is none at {path}; write one with at least "
            'the line target = "the column that holds the labels".'
        )
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:  # TOML's errors and bad encodings
        raise InputError(f"{path} cannot be read as TOML: {error}.") from None
    for key in content:
        if key not in Card.model_fields:
            raise InputError(
                f"{path}: a card has no key {key!r}; {suggest(key, Card.model_fields)}"
            )
    try:
        return Card(**content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: key {key!r} is wrong: {first['msg']}.") from None


def _table_of(card: Card, path: Path) -> Path:
    if card.file is not None:
        return path.parent / card.file
    stem = _stem(path)
    for name in (f"{stem}{end}" for end in (".csv", ".csv.gz", ".tsv", ".tsv.gz", *PARQUET)):
        if (path.parent / name).is_file():
            return path.parent / name
    raise DataNotFoundError(
        f"{path} describes no table: there is no {stem}.csv, .tsv or .parquet beside it; "
        'name the file in the card, file = "...".'
    )


def _stem(path: Path) -> str:
    """``rows`` of ``rows.csv.gz``."""
    return path.name.removesuffix(".gz").rpartition(".")[0]
