"""Typed text as a case takes it: `feature=value` pairs, words for missing values, categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperdfs.cli.model_columns import model_columns
from hyperdfs.errors import InputError, listing
from hyperdfs.estimator import DFSClassifier


class Answers:
    """The features and columns of one model, by the names that a user types."""

    def __init__(self, clf: DFSClassifier) -> None:
        self._space = clf.features_
        self.columns = model_columns(clf)

    def columns_of(self, feature: str) -> tuple[str, ...]:
        return tuple(map(str, self._space.columns[self._space.index(feature)]))

    def owner(self, name: str) -> str | None:
        """The feature that a feature name or column name belongs to."""
        if name in self.columns:
            return self.columns[name].feature
        return name if name in self._space.names else None

    def column(self, name: str) -> str:
        """The column that is meant by its own name, or by that of its feature if it is alone."""
        if name in self.columns:
            return name
        columns = self.columns_of(name)  # raises for an unknown name, and says what is close
        if len(columns) > 1:
            raise InputError(f"{name!r} has several values; give each of {listing(columns)}.")
        return columns[0]

    def value(self, feature: str, cells: Mapping[str, str]) -> Any:
        """Typed cells as `Case.observe` takes them: a scalar, or a mapping by column."""
        labels = self._space.columns[self._space.index(feature)]
        typed = {
            label: self.columns[str(label)].cell(cells[str(label)])
            for label in labels
            if str(label) in cells
        }
        return typed if len(labels) > 1 else typed[labels[0]]

    def strange(self, cells: Mapping[str, str]) -> dict[str, str]:
        """Those of the typed cells that are categories without a place of their own."""
        found = {}
        for name, text in cells.items():
            column, cell = self.columns[name], self.columns[name].cell(text)
            # Where training met rare categories only, any text is one of them.
            known = not column.categories or cell in column.categories or column.kind != "category"
            if not known and cell is not None:
                found[name] = text
        return found


def parse_known(clf: DFSClassifier, pairs: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """``--know feature=value`` pairs as values by feature, and what to say about them.

    A group of several columns takes its columns by name. A category that training did not show is
    refused, unless training met rare ones: it may be one of those.
    """
    answers, notes = Answers(clf), []
    known: dict[str, dict[str, str]] = {}
    for pair in pairs:
        name, found, text = (part.strip() for part in pair.partition("="))
        if not found or not name:
            raise InputError(f"--know must look like feature=value, got {pair!r}.")
        column = answers.column(name)
        cells = known.setdefault(answers.columns[column].feature, {})
        if column in cells:
            raise InputError(
                f"--know takes each value once, got {name!r} as {cells[column]!r} and as {text!r}; "
                "leave one out."
            )
        cells[column] = text
    for feature, cells in known.items():
        blank = [column for column in answers.columns_of(feature) if column not in cells]
        if blank:
            raise InputError(
                f"{feature!r} has several values, got none for {listing(blank)}; add "
                f"--know {blank[0]}=..., or {blank[0]}=nan if it is missing."
            )
        for column, text in answers.strange(cells).items():
            if not answers.columns[column].pools:
                raise InputError(f"{column}: {text!r} is not a category seen in training.")
            notes.append(f"{column}: {text!r} is no frequent category, it counts as a rare one.")
    return {feature: answers.value(feature, cells) for feature, cells in known.items()}, notes
