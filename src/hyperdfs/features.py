"""The feature space: what can be bought, which table columns a purchase reveals and its price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hyperdfs.costs import resolve_costs
from hyperdfs.errors import InputError, listing, suggest

KINDS = ("table", "pixels")

Groups = Mapping[str, Any] | None
Costs = Mapping[Any, float] | pd.Series | Sequence[float] | np.ndarray | float | None


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """M acquirable groups ("features"): their names, table columns and prices.

    Groups stand in the order of their first column in the table, and so do the columns inside a
    group; one mask bit belongs to each group.

    Parameters
    ----------
    names
        M unique group names.
    columns
        The table columns of each group; no column is in two groups.
    costs
        **Shape** ``(M,)``, finite and not negative; kept as a read-only float64 array.
    kind
        ``"table"``, or ``"pixels"`` for image patches, whose values in [0, 1] are used unscaled.

    Example
    -------
    >>> space = FeatureSpace.from_columns(
    ...     ["age", "systolic", "diastolic"],
    ...     groups={"pressure": ["systolic", "diastolic"]},
    ...     costs={"age": 0, "pressure": 2.5},
    ... )
    >>> space.names
    ('age', 'pressure')
    >>> space.index("pressure")
    1
    """

    names: tuple[str, ...]
    columns: tuple[tuple[Hashable, ...], ...]
    costs: np.ndarray
    kind: str = "table"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind must be one of {KINDS}, got kind={self.kind!r}")
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "columns", tuple(tuple(members) for members in self.columns))
        _check_partition(self.names, self.columns)
        object.__setattr__(self, "costs", resolve_costs(self.costs, self.names))

    @classmethod
    def from_columns(
        cls,
        columns: Iterable[Hashable],
        *,
        groups: Groups | FeatureSpace = None,
        costs: Costs = None,
        kind: str = "table",
    ) -> FeatureSpace:
        """Build the space of a table with these columns.

        ``groups`` maps a name to its columns (or to integer positions, when the table is a plain
        array whose columns are x0, x1, ...); a column that no group claims is a group of its own.
        A ready FeatureSpace is checked against the columns, and keeps its own prices and kind
        unless ``costs`` are given. ``costs`` are by group name, one per group in group order, or
        one number for all; without any every group costs 1.
        """
        table = check_labels(columns)
        if isinstance(groups, FeatureSpace):
            _check_same_columns(groups, table)
            prices = groups.costs if costs is None else costs
            return cls(groups.names, groups.columns, prices, groups.kind)  # type: ignore[arg-type]
        members = _partition(table, {} if groups is None else groups)
        return cls(tuple(members), tuple(members.values()), costs, kind)  # type: ignore[arg-type]

    @property
    def n_features(self) -> int:
        """Number of groups M."""
        return len(self.names)

    def __len__(self) -> int:
        return self.n_features

    def index(self, feature: str | int) -> int:
        """Position of a feature that is given by its name or by its position.

        In a table whose columns are numbered, a number is a column's label, as it is in `costs`
        and `groups`.
        """
        if isinstance(feature, bool) or not isinstance(feature, str | int | np.integer):
            raise InputError(f"a feature is given by name or position, got {feature!r}")
        numbered = isinstance(self.columns[0][0], int)
        if isinstance(feature, str) or numbered:
            if str(feature) in self.names:
                return self.names.index(str(feature))
            owner = self.owner(feature)
            remedy = f"it is part of {owner!r}" if owner else suggest(feature, self.names)
            raise InputError(f"there is no feature {feature!r}; {remedy}")
        if not 0 <= feature < len(self):
            raise InputError(f"a feature position must be in 0..{len(self) - 1}, got {feature}")
        return int(feature)

    def owner(self, column: Hashable) -> str | None:
        """The feature with several columns, this one among them, or None."""
        for name, members in zip(self.names, self.columns, strict=True):
            if len(members) > 1 and column in members:
                return name
        return None

    def to_dict(self) -> dict[str, Any]:
        """JSON-able content; `from_dict` is the inverse."""
        return {
            "names": list(self.names),
            "columns": [list(members) for members in self.columns],
            "costs": self.costs.tolist(),
            "kind": self.kind,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> FeatureSpace:
        """Inverse of `to_dict`."""
        return cls(**{key: content[key] for key in ("names", "columns", "costs", "kind")})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureSpace):
            return NotImplemented
        same = (self.names, self.columns, self.kind) == (other.names, other.columns, other.kind)
        return same and np.array_equal(self.costs, other.costs)

    def __hash__(self) -> int:
        return hash((self.names, self.columns, self.kind, self.costs.tobytes()))


def check_labels(columns: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Column labels of a table as a tuple: unique, and all strings or all integers."""
    labels = tuple(int(c) if isinstance(c, np.integer) else c for c in columns)
    if not labels:
        raise InputError("a table needs at least one column, got none")
    types = {type(label) for label in labels}
    # JSON and the command line can carry these two, and mixing them hides a missing header.
    # numpy's and pandas' string labels are subclasses of str.
    if not (types == {int} or all(issubclass(t, str) for t in types)):
        found = " and ".join(sorted(t.__name__ for t in types))
        raise InputError(
            f"column names must be all strings or all integers, got {found}; "
            "rename them, e.g. X.columns = X.columns.map(str)"
        )
    twice = _repeated(labels)
    if twice:
        raise InputError(f"column names must be unique, got {listing(twice)} twice; rename one")
    return labels


def _repeated(items: Iterable[Hashable]) -> list[Hashable]:
    return [item for item, count in Counter(items).items() if count > 1]


def _check_partition(names: tuple[str, ...], columns: tuple[tuple[Hashable, ...], ...]) -> None:
    if len(names) != len(columns):
        raise InputError(
            f"every group needs its columns, got {len(names)} names and {len(columns)}"
        )
    for name, members in zip(names, columns, strict=True):
        if not isinstance(name, str):
            raise InputError(f"a group name must be a string, got {name!r}")
        if not members:
            raise InputError(f"group {name!r} must have at least one column, got none; drop it")
    twice = _repeated(names)
    if twice:
        raise InputError(f"feature names must be unique, got {twice[0]!r} twice; rename one")
    shared = _repeated(column for members in columns for column in members)
    if shared:
        owners = [
            name for name, members in zip(names, columns, strict=True) if shared[0] in members
        ]
        raise InputError(
            f"a column belongs to one group only, got {shared[0]!r} in {listing(owners)}; "
            "keep it in one"
        )
    check_labels(column for members in columns for column in members)


def _check_same_columns(space: FeatureSpace, table: tuple[Hashable, ...]) -> None:
    declared = [column for members in space.columns for column in members]
    known, claimed = set(table), set(declared)
    absent = [column for column in declared if column not in known]
    if absent:
        raise InputError(f"the feature space names columns that the table lacks: {listing(absent)}")
    unclaimed = [column for column in table if column not in claimed]
    if unclaimed:
        raise InputError(
            f"the feature space does not cover every column: {listing(unclaimed)}; "
            "drop them from the table or declare them"
        )


def _partition(
    table: tuple[Hashable, ...], groups: Mapping[str, Any]
) -> dict[str, tuple[Hashable, ...]]:
    """Group name -> columns, both in table order."""
    if not isinstance(groups, Mapping):
        raise InputError(
            f"groups must map a name to its columns, got {type(groups).__name__}; "
            "write e.g. {'pressure': ['systolic', 'diastolic']}"
        )
    owner: dict[Hashable, str] = {}
    for name, members in groups.items():
        resolved = [_column(label, table, name) for label in _as_list(members)]
        _check_partition((name,), (tuple(resolved),))
        for column in resolved:
            if column in owner:
                raise InputError(
                    f"a column belongs to one group only, got {column!r} in {owner[column]!r} "
                    f"and {name!r}; keep it in one"
                )
            owner[column] = name
    for column in table:
        if column not in owner and str(column) in groups:
            raise InputError(
                f"group {str(column)!r} has the name of a column outside it; "
                "rename the group or add the column to it"
            )
    result: dict[str, list[Hashable]] = {}
    for column in table:
        result.setdefault(owner.get(column, str(column)), []).append(column)
    return {name: tuple(members) for name, members in result.items()}


def _as_list(members: Any) -> list[Any]:
    # A bare label is a group of one column; a string must not be read as a list of letters.
    if isinstance(members, str | int | np.integer):
        return [members]
    if not isinstance(members, Iterable):
        raise InputError(f"a group must list its columns, got {members!r}; write ['a', 'b'], say")
    return list(members)


def _column(label: Any, table: tuple[Hashable, ...], group: str) -> Hashable:
    """The table column that a label or, for a plain array, a position means."""
    if isinstance(label, np.integer):
        label = int(label)
    if isinstance(label, Hashable) and label in table:
        return label
    from_array = table == tuple(f"x{i}" for i in range(len(table)))
    if from_array and isinstance(label, int) and 0 <= label < len(table):
        return table[label]
    raise InputError(
        f"group {group!r} names {label!r}, which is no column of the table; {suggest(label, table)}"
    )
