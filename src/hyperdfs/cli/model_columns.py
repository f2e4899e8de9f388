"""What a saved model knows about the columns of its table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hyperdfs.datasets.table_cells import is_missing_word

if TYPE_CHECKING:
    from hyperdfs.estimator import DFSClassifier


@dataclass(frozen=True)
class ModelColumn:
    """One column: what it is, and which answers it expects.

    `pools` says that training met rare categories, which count as one and whose names the model
    does not keep.
    """

    name: str
    feature: str
    kind: str
    categories: tuple[str, ...]
    range: tuple[float, float] | None
    pools: bool

    def cell(self, text: str) -> str | None:
        """A typed value; None where the word says that it is missing and is no category.

        Blanks at the ends count only where they tell two categories apart.
        """
        if text not in self.categories:
            alike = [c for c in self.categories if c.strip() == text.strip()]
            text = alike[0] if len(alike) == 1 else text
        return None if is_missing_word(text) and text not in self.categories else text


def model_columns(clf: DFSClassifier) -> dict[str, ModelColumn]:
    """The columns by name, in the model's order."""
    preprocessor = clf._state.preprocessor
    pooled = preprocessor.state()[1]["unseen"]
    rows: list[dict[str, Any]] = preprocessor.describe()
    columns = {}
    for row, other in zip(rows, pooled.tolist(), strict=True):
        name, labels = str(row["name"]), tuple(map(str, row.get("categories", ())))
        columns[name] = ModelColumn(
            name=name,
            feature=row["feature"],
            kind=row["kind"],
            categories=labels,
            range=(row["min"], row["max"]) if row["kind"] == "number" else None,
            pools=row["kind"] == "category" and other == len(labels),
        )
    return columns
