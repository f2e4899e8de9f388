"""`hyperdfs ask`: one case in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def ask(
    model: Annotated[Path, typer.Argument(help="A model file that `train` wrote.")],
    know: Annotated[
        list[str] | None, typer.Option(help="A value known at the start, age=54; repeatable.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Most purchases; by default those of the training.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print prediction and recommendations, ask nothing.")
    ] = False,
) -> None:
    """Work through one case: it says what to buy next, you type what came out.

    Answers may also come through a pipe, one per line.
    """
    from hyperdfs.bundle import load
    from hyperdfs.cli.answers import parse_known
    from hyperdfs.cli.dialogue import Dialogue
    from hyperdfs.cli.screen import print_json, warn

    clf = load(model)
    known, notes = parse_known(clf, know or [])
    case = clf.start_case(known)
    for note in notes:
        warn(note)
    if as_json:
        advice = case.recommend() or []
        print_json(
            {
                "known": case.values,
                "prediction": case.prediction,
                "proba": dict(zip(clf.classes_, case.proba.tolist(), strict=True)),
                "recommend": [vars(item) for item in advice],
            }
        )
        return
    Dialogue(clf, case, budget or clf.max_budget_).run()
