"""`hyperdfs evaluate`: the acquisition curve of a saved model on a table with labels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import pandas as pd

    from hyperdfs.estimator import DFSClassifier


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model file that `train` wrote.")],
    table: Annotated[Path, typer.Argument(help="Rows with labels: .csv, .tsv or .parquet.")],
    target: Annotated[
        str | None,
        typer.Option(help="Column of labels; by default that of the training."),
    ] = None,
    budgets: Annotated[str, typer.Option(help="Numbers of purchases: 2-10 or 1,3,5.")] = "2-10",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random order.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score a saved model after each number of purchases, against a random order."""
    from hyperdfs.bundle import load
    from hyperdfs.cli.files import file_rows, split_target
    from hyperdfs.cli.model_table import read_for_model, unknown_categories
    from hyperdfs.cli.scoring import print_scores, score
    from hyperdfs.cli.screen import counted, print_json, stdout, warn, without_label

    wanted = parse_budgets(budgets)
    clf = load(model)
    rows = read_for_model(clf, table, target or clf._state.target)
    if target is None:
        target = find_target(clf, rows)
        if target != clf._state.target:  # its cells were not read as labels
            rows = read_for_model(clf, table, target)
    X, y, without = split_target(rows, target)
    with file_rows(table, X.index.tolist()):
        scores = score(clf, X, y, wanted, seed)
    for sentence in unknown_categories(clf, X):
        warn(sentence)
    if as_json:
        print_json({"model": str(model), "table": str(table), "target": target, **scores.as_dict()})
        return
    console = stdout()
    console.print(f"{counted(scores.n_rows, 'row')} of {table}, target {target!r}.", markup=False)
    if without:
        console.print(f"{without_label(without)}.")
    console.print()
    print_scores(console, scores)


def parse_budgets(text: str) -> list[int]:
    """Numbers and ranges, sorted.

    >>> parse_budgets("1,3-5")
    [1, 3, 4, 5]
    """
    from hyperdfs.errors import InputError

    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise InputError(f"--budgets must look like 2-10 or 1,3,5, got {text!r}.")
        found.update(range(first, last + 1))
    return sorted(found)


def find_target(clf: DFSClassifier, rows: pd.DataFrame) -> str:
    """The target of the training, or else the one column that is no feature of the model."""
    from hyperdfs.errors import InputError, listing

    if clf._state.target in rows.columns:
        return str(clf._state.target)
    features = {str(column) for group in clf.features_.columns for column in group}
    others = [str(column) for column in rows.columns if str(column) not in features]
    if len(others) == 1:
        return others[0]
    found = f"has {listing(others)}" if others else "has only features of the model"
    raise InputError(f"Name the column of labels with --target; the table {found}.")
