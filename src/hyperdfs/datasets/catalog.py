"""The catalog: a plain dict from name to entry, and the three functions users call."""

from __future__ import annotations

import difflib
from dataclasses import replace
from numbers import Integral
from pathlib import Path

from hyperdfs.datasets.base import Dataset, DatasetInfo
from hyperdfs.datasets.cards import is_card, load_card
from hyperdfs.datasets.imagenette import IMAGENETTE
from hyperdfs.datasets.images import PATCH_SETS
from hyperdfs.datasets.more_tables import MORE_TABLES
from hyperdfs.datasets.synthetic import SYNTHETIC
from hyperdfs.datasets.tables import PAPER_TABLES
from hyperdfs.errors import InputError
from hyperdfs.features import FeatureSpace

CATALOG: dict[str, DatasetInfo] = {
    entry.name: entry
    for entry in [*SYNTHETIC, *PAPER_TABLES, *MORE_TABLES, *PATCH_SETS, IMAGENETTE]
}


def dataset_names(kind: str | None = None) -> list[str]:
    """Names in the catalog, in its order; ``kind`` keeps "synthetic", "table" or "images".

    >>> dataset_names("synthetic")[:3]
    ['synpairs', 'proxysub', 'cube']
    """
    kinds = sorted({entry.kind for entry in CATALOG.values()})
    if kind is not None and kind not in kinds:
        raise InputError(f"kind must be one of {', '.join(kinds)} or None, got kind={kind!r}")
    return [name for name, entry in CATALOG.items() if kind in (None, entry.kind)]


def dataset_info(name: str) -> DatasetInfo:
    """The catalog entry: size, classes, licence, source and ceiling, without loading anything.

    >>> dataset_info("cube").n_classes
    8
    """
    if name in CATALOG:
        return CATALOG[name]
    close = difflib.get_close_matches(str(name).lower(), CATALOG, n=3)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    raise InputError(
        f"unknown data set {name!r}: {hint}`hyperdfs datasets` lists all {len(CATALOG)} names"
    )


def load_dataset(
    name: str | Path, seed: int = 0, n_samples: int = 10_000, *, costs: str | None = None
) -> Dataset:
    """Load or generate a data set of the catalog, or read a table that has a card.

    A path such as "clinic.toml", or "clinic.csv" with that card beside it, is a table of one's own.
    ``seed`` and ``n_samples`` steer the synthetic generators; real data have their own rows and
    ignore them. Every feature costs 1, as in the paper, unless ``costs="published"`` asks for the
    prices of `DatasetInfo.cost_sheet`.

    >>> load_dataset("synpairs", n_samples=100).X.shape
    (100, 12)
    """
    if is_card(name):
        return _own_table(Path(name), costs)
    info = dataset_info(str(name))
    if not _is_integer(n_samples) or n_samples < 1:
        raise InputError(f"n_samples must be a positive integer, got n_samples={n_samples!r}")
    if not _is_integer(seed) or seed < 0:
        raise InputError(f"seed must be an integer of at least 0, got seed={seed!r}")
    raw = info.load(seed, n_samples)
    features = raw.features or FeatureSpace.from_columns(raw.X.columns)
    if costs is not None:
        features = _priced(features, info, costs)
    return Dataset(
        name=info.name,
        X=raw.X,
        y=raw.y,
        features=features,
        n_classes=info.n_classes,
        class_names=raw.class_names or tuple(str(c) for c in range(info.n_classes)),
        oracle=info.family.oracle() if info.family else None,
        kind=info.kind,
        licence=info.licence,
        source=info.source,
        description=info.description,
        n_train=raw.n_train,
    )


def _own_table(path: Path, costs: str | None) -> Dataset:
    if costs is not None:
        raise InputError(
            f"the prices of a table of your own stand in its card, got costs={costs!r}"
        )
    data = load_card(path)
    if data.name in CATALOG:
        raise InputError(
            f"the catalog has a data set {data.name!r}; give yours another name in its card, "
            f'e.g. name = "my_{data.name}"'
        )
    return data


def _priced(features: FeatureSpace, info: DatasetInfo, costs: str) -> FeatureSpace:
    if costs != "published":
        raise InputError(f"costs must be 'published' or None, got costs={costs!r}")
    if info.cost_sheet is None:
        priced = [name for name, entry in CATALOG.items() if entry.cost_sheet]
        raise InputError(
            f"data set {info.name!r} has no published prices; {', '.join(priced)} have"
        )
    return replace(features, costs=info.cost_sheet.costs)  # type: ignore[arg-type]


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
