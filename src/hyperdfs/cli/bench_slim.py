"""`hyperdfs bench slim`: results small enough to be committed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def slim(
    out: Annotated[Path, typer.Option(help="Folder of results.")],
    to: Annotated[Path, typer.Option(help="Folder to write the copy to.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Copy results without the probabilities of each test row; tables and curves stay possible."""
    from hyperdfs.bench import slim as slimming
    from hyperdfs.cli.screen import print_json

    count = slimming.slim(out, to)
    size = sum(path.stat().st_size for path in to.glob("*/*/*.cell"))
    if as_json:
        print_json({"to": str(to), "copied": count, "bytes": size})
        return
    typer.echo(f"{count:,} cell{'s' * (count != 1)} copied to {to}, {size / 1e3:,.0f} kB.")
