"""The conversation of `hyperdfs ask`: recommend, read an answer, show how the prediction moves."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from rich.text import Text

from hyperdfs.case import Case
from hyperdfs.cli.answers import Answers
from hyperdfs.cli.screen import class_bars, counted, number, stdout
from hyperdfs.errors import InputError
from hyperdfs.estimator import DFSClassifier

HELP = "Type the value, or: nan (no result) · skip · undo · why · other=value · quit"
COMMANDS = {"skip": "skip", "undo": "undo", "why": "why", "?": "why", "quit": "quit", "q": "quit"}


class Quit(Exception):  # noqa: N818 - not an error
    """The user, or the end of the input, ends the conversation."""


class Dialogue:
    """One case, from the first recommendation to the summary."""

    def __init__(self, clf: DFSClassifier, case: Case, budget: int) -> None:
        self._clf = clf
        self._case = case
        self._budget = budget
        self._answers = Answers(clf)
        self._steps: list[tuple[str, bool]] = []  # feature, and whether it was bought
        self._console = stdout()
        self._doubted: dict[str, str] = {}
        self._live = sys.stdin.isatty()

    def run(self) -> None:
        self._say((HELP, "dim"))
        self._show(None)
        try:
            while len(self._bought()) < self._budget and not self._case.done:
                self._step()
        except Quit:
            pass
        self._summarise()

    def _bought(self) -> list[str]:
        """What was paid for since the start, those without a result included."""
        return [feature for feature, bought in self._steps if bought]

    def _step(self) -> None:
        """One purchase, skip or undo."""
        best = (self._case.recommend(k=3) or [])[0]
        price = f", price {number(best.cost)}" if self._priced() else ""
        self._say("\n", (f"Buy {best.feature}", "bold"), f"{price}: {best.why}")
        before = self._case.proba
        try:
            if self._answer(best.feature, {}):
                self._show(before)
        except InputError as error:
            self._say((f"  {error}", "red"))

    def _priced(self) -> bool:
        return len(set(self._clf.features_.costs.tolist())) > 1

    def _answer(self, feature: str, cells: dict[str, str]) -> bool:
        """Read those cells of a feature that are not typed yet; True when the prediction moves."""
        try:
            return self._fill(feature, cells)
        except Quit:
            if cells:
                self._say(f"{feature} was not complete and is left out.")
            raise

    def _fill(self, feature: str, cells: dict[str, str]) -> bool:
        columns = self._answers.columns_of(feature)
        while left := [column for column in columns if column not in cells]:
            text = self._read(left[0])
            command = self._command(text, left[0])
            if command == "why":
                self._explain()
                continue
            if command == "undo" and cells:  # a group that was begun
                return False
            if command:
                return self._obey(command, feature)
            name, found, value = (part.strip() for part in text.partition("="))
            other = self._answers.owner(name) if found else None
            if other is None:
                cells[left[0]] = text
            elif other == feature:
                cells[self._answers.column(name)] = value
            else:
                self._need_open(other)
                return self._answer(other, {self._answers.column(name): value})
        return self._observe(feature, cells)

    def _need_open(self, feature: str) -> None:
        if feature in self._case.values or feature in self._case.skipped:
            raise InputError(f"Feature {feature!r} is already known or skipped; type undo first.")

    def _observe(self, feature: str, cells: dict[str, str]) -> bool:
        self._doubt(cells)
        self._case.observe(feature, self._answers.value(feature, cells))
        self._steps.append((feature, True))
        if feature in self._case.skipped:
            self._say(f"  {feature} is paid for and gave no result.")
            return False
        for column, text in cells.items():
            self._remark(column, text)
        return True

    def _remark(self, name: str, text: str) -> None:
        """A number beyond the training rows is taken, but said to be so."""
        column = self._answers.columns[name]
        if column.range is None or column.cell(text) is None:
            return
        if not column.range[0] <= float(text) <= column.range[1]:
            self._say((f"  {text} is outside the range of the training rows", "yellow"))

    def _doubt(self, cells: dict[str, str]) -> None:
        """An unseen category is most likely a slip of the keyboard: it has to be typed twice."""
        strange = self._answers.strange(cells)
        if not strange or self._doubted == cells:
            return
        self._doubted = dict(cells)
        shown = ", ".join(map(repr, strange.values()))
        if all(self._answers.columns[name].pools for name in strange):
            raise InputError(f"{shown} is no frequent category; type it again if it is a rare one.")
        raise InputError(
            f"{shown} is not a category seen in training; type it again to use it anyway."
        )

    def _command(self, text: str, column: str) -> str | None:
        """A command word, unless it is a category of the column; ``:skip`` is always one."""
        known = self._answers.columns[column]
        if text.startswith(":"):
            text = text[1:]
        elif known.cell(text) in known.categories:
            return None
        return COMMANDS.get(text.lower())

    def _obey(self, command: str, feature: str) -> bool:
        if command == "quit":
            raise Quit
        if command == "skip":
            self._case.skip(feature)
            self._steps.append((feature, False))
            self._say(f"{feature} cannot be had.")
            return False
        if not self._steps:  # what was known at the start stays
            raise InputError("There is nothing to take back.")
        self._case.undo()
        self._steps.pop()
        return True

    def _explain(self) -> None:
        for item in self._case.recommend(k=3) or []:
            price = f", price {number(item.cost)}" if self._priced() else ""
            self._say(f"  {item.feature}{price}, selector's weight {item.share:.0%}: {item.why}")

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

    def _expected(self, name: str) -> str:
        column = self._answers.columns[name]
        if column.range is not None:
            return f"({number(column.range[0])} to {number(column.range[1])})"
        if not column.categories:
            return "(any text)"
        rare = ["a rare one"] if column.pools else []
        return f"({', '.join([*_shorten(column.categories), *rare])})"

    def _show(self, before: np.ndarray | None) -> None:
        old = None if before is None else before.tolist()
        for line in class_bars(list(self._clf.classes_), self._case.proba.tolist(), old):
            self._say(f"  {line}")

    def _summarise(self) -> None:
        case, space, bought = self._case, self._clf.features_, self._bought()
        sure = float(case.proba.max())
        self._say("\n", (f"Prediction: {case.prediction}", "bold"), f" ({sure:.0%})")
        price = f", price {number(case.cost)}" if self._priced() else ""
        names = [name if name in case.values else f"{name} (no result)" for name in bought]
        listed = f": {', '.join(names)}" if names else ""
        of_all = counted(len(space), "feature")
        self._say(f"{len(bought)} bought of {of_all}{price}{listed}.")
        skipped = [feature for feature, paid in self._steps if not paid]
        if skipped:
            self._say(f"Skipped: {', '.join(skipped)}.")

    def _say(self, *parts: str | tuple[str, str]) -> None:
        """Text, or text and its style; names and labels are never taken for markup."""
        self._console.print(Text.assemble(*parts), soft_wrap=not self._console.is_terminal)


def _shorten(labels: Sequence[str], limit: int = 6) -> list[str]:
    more = [f"{len(labels) - limit} more"] if len(labels) > limit else []
    return [*labels[:limit], *more]
