"""Who is compared with whom: groups of methods, in the order of the tables.

Written out, because the registry of methods imports torch and tables do without; a test compares.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """Methods of one kind; the best of each group is marked."""

    name: str
    title: str
    methods: tuple[str, ...] = ()


OTHER = Group("other", "Others")
GROUPS = (
    Group("ours", "Ours", ("hyperdfs", "hyperens")),
    Group(
        "literature",
        "Literature, one model",
        ("cwcf", "dime", "eddi", "gdfs", "invase", "repa", "sefa", "vip"),
    ),
    Group("multi", "Several models", ("aaco", "cardinality", "ensemble", "moe")),
    Group(
        "controls",
        "Controls",
        (
            *("constant", "random", "random_mlp", "static_mlp", "static_trees"),
            *("trees_missing", "invase_oracle", "oracle", "full"),
        ),
    ),
    OTHER,
)
GROUP_OF = {method: group for group in GROUPS for method in group.methods}

CONSTANT, FULL = "constant", "full"  # one knows nothing, the other everything
# They see the whole row, know the true distribution, or nothing: references, not competitors. Cells
# keep what their method says of itself; these names are for cells that were stored before.
UNRANKED = frozenset({CONSTANT, FULL, "oracle", "invase_oracle"})


def group_of(method: str) -> Group:
    """The group of a method; a method that a user added is one of the others.

    >>> group_of("vip").name, group_of("mine").name
    ('literature', 'other')
    """
    return GROUP_OF.get(method, OTHER)


def column_order(label: str, method: str) -> tuple[int, int, bool, str]:
    """Sorts labels by group, then as the group lists its methods, each before its variants."""
    group = group_of(method)
    place = group.methods.index(method) if method in group.methods else len(group.methods)
    return GROUPS.index(group), place, label != method, label
