"""The conversation of `hyperdfs ask`: recommend, read an answer, show how the prediction moves."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from hyperdfs.case import Case, Recommendation
from hyperdfs.cli.screen import class_bars, number, stdout
from hyperdfs.errors import InputError, listing
from hyperdfs.estimator import DFSClassifier

HELP = "Type the value, or: skip · undo · why · other=value · quit"
COMMANDS = {"skip": "skip", "undo": "undo", "why": "why", "?": "why", "quit": "quit", "q": "quit"}


class Quit(Exception):  # noqa: N818 - not an error
    """The user, or the end of the input, ends the conversation."""


def parse_known(clf: DFSClassifier, pairs: Sequence[str]) -> dict[str, Any]:
    """``--know feature=value`` pairs; a group of several columns takes its columns by name."""
    known: dict[str, Any] = {}
    for pair in pairs:
        name, found, text = pair.partition("=")
        if not found or not name:
            raise InputError(f"--know must look like feature=value, got {pair!r}.")
        owner = _owner(clf, name)
        if owner is None:
            clf.features_.index(name)  # raises, and names what is close
        elif len(_columns(clf, owner)) > 1 and name not in map(str, _columns(clf, owner)):
            raise InputError(
                f"{name!r} has several values; give each of {listing(_columns(clf, owner))}."
            )
        else:
            known.setdefault(str(owner), {})[name] = text
    values = {feature: _value(clf, feature, cells) for feature, cells in known.items()}
    for feature, value in values.items():
        if not clf._state.preprocessor.known_category(feature, value):
            shown = ", ".join(map(repr, known[feature].values()))
            raise InputError(f"{feature}: {shown} is not a category seen in training.")
    return values


def _value(clf: DFSClassifier, feature: str, cells: Mapping[str, str]) -> Any:
    """Typed cells as `Case.observe` takes them: a scalar, or a mapping by column."""
    columns = _columns(clf, feature)
    if len(columns) == 1:
        return next(iter(cells.values()))
    return {column: cells[str(column)] for column in columns if str(column) in cells}


def _owner(clf: DFSClassifier, name: str) -> str | None:
    """The feature that a feature name or column name belongs to."""
    space = clf.features_
    for feature, columns in zip(space.names, space.columns, strict=True):
        if name == feature or name in map(str, columns):
            return feature
    return None


def _columns(clf: DFSClassifier, feature: str) -> tuple[Hashable, ...]:
    return clf.features_.columns[clf.features_.index(feature)]


class Dialogue:
    """One case, from the first recommendation to the summary."""

    def __init__(self, clf: DFSClassifier, case: Case, budget: int) -> None:
        self._clf = clf
        self._case = case
        self._budget = budget
        self._at_start = len(case.values)
        self._console = stdout()
        self._doubted: tuple[str, dict[str, str]] | None = None
        self._live = sys.stdin.isatty()
        self._about = {str(row["name"]): row for row in clf._state.preprocessor.describe()}

    def run(self) -> None:
        self._say(f"[dim]{HELP}[/]")
        self._show(None)
        try:
            while self._bought() < self._budget and not self._case.done:
                self._step()
        except Quit:
            pass
        self._summarise()

    def _bought(self) -> int:
        return len(self._case.values) - self._at_start

    def _step(self) -> None:
        """One purchase, skip or undo."""
        best = (self._case.recommend(k=3) or [])[0]
        price = f", price {number(best.cost)}" if self._priced() else ""
        self._say(f"\n[bold]Buy {_plain(best.feature)}[/]{price}: {_plain(best.why)}")
        before = self._case.proba
        try:
            if self._answer(best):
                self._show(before)
        except InputError as error:
            self._say(f"  [red]{_plain(str(error))}[/]")

    def _priced(self) -> bool:
        return len(set(self._clf.features_.costs.tolist())) > 1

    def _answer(self, best: Recommendation) -> bool:
        """Read the cells of the recommended feature; True when the case has changed."""
        cells: dict[str, str] = {}
        for column in _columns(self._clf, best.feature):
            text = self._read(str(column))
            command = self._command(text, str(column))
            if command == "why":
                self._explain()
                return False
            if command:
                return self._obey(command, best.feature)
            name, found, value = text.partition("=")
            other = _owner(self._clf, name.strip()) if found else None
            if other is not None:
                return self._observe(other, {name.strip(): value.strip()})
            cells[str(column)] = text
        return self._observe(best.feature, cells)

    def _observe(self, feature: str, cells: dict[str, str]) -> bool:
        self._check(feature, cells)
        self._case.observe(feature, _value(self._clf, feature, cells))
        for column, text in cells.items():
            self._remark(column, text)
        return True

    def _remark(self, column: str, text: str) -> None:
        """A number beyond the training rows is taken, but said to be so."""
        about = self._about.get(column, {})
        with suppress(KeyError, ValueError):
            if not about["min"] <= float(text) <= about["max"]:
                self._say(f"  [yellow]{_plain(text)} is outside the range of the training rows[/]")

    def _check(self, feature: str, cells: dict[str, str]) -> None:
        """An unseen category is most likely a slip of the keyboard: it has to be typed twice."""
        names = _columns(self._clf, feature)
        if len(names) > 1 and set(cells) - {str(name) for name in names}:
            raise InputError(f"{feature!r} has several values; give each of {listing(names)}.")
        value = _value(self._clf, feature, cells)
        if self._clf._state.preprocessor.known_category(feature, value):
            return
        if self._doubted != (feature, cells):
            self._doubted = (feature, cells)
            shown = ", ".join(map(repr, cells.values()))
            raise InputError(
                f"{shown} is not a category seen in training; type it again to use it anyway."
            )

    def _command(self, text: str, column: str) -> str | None:
        """A command word, unless it is a category of the column; ``:skip`` is always one."""
        if text.startswith(":"):
            text = text[1:]
        elif text in map(str, self._about[column].get("categories", ())):
            return None
        return COMMANDS.get(text.lower())

    def _obey(self, command: str, feature: str) -> bool:
        if command == "quit":
            raise Quit
        if command == "skip":
            self._case.skip(feature)
            self._say(f"{_plain(feature)} cannot be had.")
            return False
        if len(self._case.values) + len(self._case.skipped) == self._at_start:
            raise InputError("There is nothing to take back.")
        self._case.undo()
        return True

    def _explain(self) -> None:
        for item in self._case.recommend(k=3) or []:
            price = f", price {number(item.cost)}" if self._priced() else ""
            text = f"{item.feature}{price}, selector's weight {item.share:.0%}: {item.why}"
            self._say(f"  {_plain(text)}")

    def _read(self, column: str) -> str:
        """One answer that is not empty; the end of the input quits."""
        prompt = f"  {column} {self._expected(column)}: "
        while True:
            try:
                text = input(prompt).strip()
            except EOFError:
                print()
                raise Quit from None
            if not self._live:
                print(text)  # so that the transcript of a pipe can be read
            if text:
                return text
            self._say(HELP)

    def _expected(self, column: str) -> str:
        about = self._about[column]
        if about["kind"] == "number":
            return f"({number(about['min'])} to {number(about['max'])})"
        return f"({_shorten([str(label) for label in about.get('categories', [])])})"

    def _show(self, before: np.ndarray | None) -> None:
        old = None if before is None else before.tolist()
        for line in class_bars(list(self._clf.classes_), self._case.proba.tolist(), old):
            self._say(f"  {_plain(line)}")

    def _summarise(self) -> None:
        case, bought = self._case, self._bought()
        names = list(case.values)[self._at_start :]
        space = self._clf.features_
        spent = sum(float(space.costs[space.index(name)]) for name in names)
        sure = float(case.proba.max())
        self._say(f"\n[bold]Prediction: {_plain(str(case.prediction))}[/] ({sure:.0%})")
        price = f", price {number(spent)}" if self._priced() else ""
        listed = f": {', '.join(names)}" if names else ""
        self._say(_plain(f"{bought} bought of {len(space)} features{price}{listed}."))
        if case.skipped:
            self._say(_plain(f"Skipped: {', '.join(case.skipped)}."))

    def _say(self, text: str) -> None:
        self._console.print(text, soft_wrap=not self._console.is_terminal)


def _plain(text: str) -> str:
    """Square brackets in names are no markup."""
    return text.replace("[", r"\[")


def _shorten(labels: Sequence[str], limit: int = 6) -> str:
    more = f", {len(labels) - limit} more" if len(labels) > limit else ""
    return ", ".join(labels[:limit]) + more
