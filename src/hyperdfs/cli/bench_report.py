"""`hyperdfs bench report`: one HTML page about a store of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    out: Annotated[Path, typer.Option(help="Folder of results that `bench run` filled.")],
    to: Annotated[Path, typer.Option(help="HTML page to write.")] = Path("benchmark.html"),
) -> None:
    """Write a page with tables, curves, tests and purchases; it needs no network."""
    from hyperdfs.cli.bench_table import stored_records
    from hyperdfs.cli.options import need_place
    from hyperdfs.cli.screen import stderr, stdout
    from hyperdfs.errors import InputError

    need_place("--to", to)
    records = stored_records(out)
    if not any(record.status == "done" for record in records):
        raise InputError(f"All {len(records)} results in {out} failed; there is nothing to show.")
    from hyperdfs.report.benchmark import gather, render
    from hyperdfs.report.page import write_whole

    screen = stderr()
    with screen.status("Reading results …") as status:
        content = gather(
            out, records, page=to, progress=lambda name: status.update(f"Reading {name} …")
        )
        write_whole(render(content), to)
    sets, methods = len(content.datasets), len(content.methods)
    stdout().print(
        f"{sets} data set{'s' * (sets != 1)}, {methods} method{'s' * (methods != 1)}: {to}",
        markup=False,
        soft_wrap=True,
    )
