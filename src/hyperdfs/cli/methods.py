"""`hyperdfs methods`: what can be trained."""

from __future__ import annotations

from typing import Annotated

import typer


def methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the methods that `train --method` accepts."""
    from hyperdfs.cli.screen import listing_table, print_json, stdout
    from hyperdfs.methods import METHODS, method_names

    rows = [{"name": name, "title": METHODS[name].title} for name in method_names()]
    if as_json:
        print_json(rows)
        return
    table = listing_table("Method", "What it is")
    for row in rows:
        table.add_row(row["name"], row["title"])
    stdout().print(table)
