"""From files to rows of a catalogued table, and the checks that they are the right ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hyperdfs.datasets.base import DatasetInfo, RawData
from hyperdfs.datasets.content import content_hash
from hyperdfs.datasets.files import Alternatives, DataFile, obtain_files
from hyperdfs.datasets.prices import CostSheet
from hyperdfs.errors import InputError, MissingExtraError

# From pandas 3.1 on decimals are read exactly; before, only on request.
_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
EXACT: dict[str, Any] = {} if _PANDAS >= (3, 1) else {"float_precision": "round_trip"}

# Where class counts are not published, the majority share may be this far from the stated one.
SHARE_SLACK = 0.05


@dataclass(frozen=True)
class Form:
    """One way in which a table is distributed: its files, whose rows follow each other.

    ``columns`` are the names that a file without header lacks, ``missing`` is what stands for a
    missing value.
    """

    files: tuple[DataFile, ...]
    separator: str = ","
    columns: tuple[str, ...] = ()
    missing: str = ""

    def read(self, paths: Sequence[Path]) -> pd.DataFrame:
        parts = [
            pd.read_csv(
                path,
                sep=self.separator,
                names=list(self.columns) or None,
                keep_default_na=False,  # "None" and "NA" are categories somewhere
                na_values=[self.missing],
                low_memory=False,  # else the type of a column may change half-way
                **EXACT,
            )
            for path in paths
        ]
        return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]


@dataclass(frozen=True)
class Table:
    """How the columns of a file become features and labels.

    ``classes`` maps a label in the file to the name of its class, in the order of the codes.
    ``nominal`` columns hold numbers that only name categories; they become text. ``clean`` mends
    the table before anything else.
    """

    target: str
    classes: Mapping[str, str]
    drop: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    clean: Callable[[pd.DataFrame], pd.DataFrame] = field(default=lambda table: table)

    def split(self, rows: pd.DataFrame) -> RawData:
        needed = [self.target, *self.nominal, *self.drop]
        absent = [column for column in needed if column not in rows.columns]
        if absent:
            raise InputError(f"it has no column {absent[0]!r}")
        rows = self.clean(rows)
        labels = [text_of(label) for label in rows[self.target]]
        codes = {label: code for code, label in enumerate(self.classes)}
        strange = next((label for label in labels if label not in codes), None)
        if strange is not None:
            raise InputError(f"its column {self.target!r} holds {strange!r}, which is no class")
        X = rows.drop(columns=[self.target, *self.drop])
        for column in self.nominal:
            X[column] = X[column].map(text_of, na_action="ignore")
        y = np.array([codes[label] for label in labels], dtype=np.int64)
        return RawData(X, y, tuple(self.classes.values()))


def text_of(value: Any) -> str:
    """A label or a category as text; 2.0 is 2, as missing cells turn whole numbers into floats.

    >>> text_of(2.0), text_of(2.5), text_of(12345678.0), text_of("2.0")
    ('2', '2.5', '12345678', '2.0')
    """
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)


def file_entry(
    read: Callable[[tuple[Path, ...]], RawData],
    *,
    name: str,
    kind: str,
    n_features: int,
    class_counts: Mapping[str, int] | None = None,
    n_rows: int | None = None,
    n_classes: int | None = None,
    majority_share: float | None = None,
    files: Alternatives,
    content: str = "",
    **fields: Any,
) -> DatasetInfo:
    """The catalog entry of data that are read from files, verified as they are loaded.

    Rows, classes and majority share follow from ``class_counts`` where these are known.
    """
    if class_counts:
        n_rows, n_classes = sum(class_counts.values()), len(class_counts)
        majority_share = round(max(class_counts.values()) / n_rows, 4)
    if n_rows is None or n_classes is None or majority_share is None:
        raise TypeError(f"{name}: class_counts, or n_rows, n_classes and majority_share are needed")

    def load(seed: int, n_samples: int) -> RawData:
        paths = obtain_files(name, files)
        try:
            raw = read(paths)
            verify(raw, info)
        except MissingExtraError:
            raise
        except Exception as error:  # for a damaged file every format's reader has its own error
            reason = error if isinstance(error, InputError) else f"it cannot be read ({error})"
            raise InputError(
                f"{paths[0]} is not the file of data set {name!r}: {reason}; get it from "
                f"{info.source}, or describe a table of your own with a card."
            ) from error
        return raw

    info = DatasetInfo(
        name=name,
        kind=kind,
        n_rows=n_rows,
        n_features=n_features,
        n_classes=n_classes,
        majority_share=majority_share,
        class_counts=class_counts or {},
        files=files,
        content=content,
        load=load,
        **fields,
    )
    return info


def table_entry(
    table: Table,
    forms: Sequence[Form],
    *,
    counts: Sequence[int],
    dropped: Mapping[str, str] | None = None,
    cost_sheet: CostSheet | None = None,
    **fields: Any,
) -> DatasetInfo:
    """The catalog entry of a table; ``counts`` are the rows of its classes, in their order."""
    by_files = {tuple(file.name for file in form.files): form for form in forms}

    def read(paths: tuple[Path, ...]) -> RawData:
        form = by_files[tuple(path.name for path in paths)]
        return table.split(form.read(paths))

    return file_entry(
        read,
        kind="table",
        class_counts=dict(zip(table.classes.values(), counts, strict=True)),
        files=tuple(form.files for form in forms),
        target=table.target,
        dropped=dropped or {},
        cost_sheet=cost_sheet,
        **fields,
    )


def verify(raw: RawData, info: DatasetInfo) -> None:
    """Raise unless the rows are those that the entry describes; the message is a reason."""
    n_features = len(raw.features) if raw.features is not None else raw.X.shape[1]
    _same("rows", len(raw.y), info.n_rows)
    _same("features", n_features, info.n_features)
    counts = np.bincount(raw.y, minlength=info.n_classes)
    _same("classes", int((counts > 0).sum()), info.n_classes)
    for code, (label, count) in enumerate(info.class_counts.items()):
        _same(f"rows of class {label!r}", int(counts[code]), count)
    share = counts.max() / len(raw.y)
    if abs(share - info.majority_share) > SHARE_SLACK:
        raise InputError(
            f"its largest class has a share of {share:.3f} where {info.majority_share:.3f} is known"
        )
    if info.content and content_hash(raw.X, raw.y) != info.content:
        raise InputError("sizes and classes fit, but some values differ")


def _same(what: str, found: int, known: int) -> None:
    if found != known:
        raise InputError(f"it has {found:,} {what} where {known:,} are known")
