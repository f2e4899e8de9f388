"""`hyperdfs bench report`: one HTML page about a store of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperdfs.cli.bench_table import Datasets, Methods


def report(
    out: Annotated[Path, typer.Option(help="Folder of results that `bench run` filled.")],
    to: Annotated[Path, typer.Option(help="HTML page to write.")] = Path("benchmark.html"),
    datasets: Datasets = None,
    methods: Methods = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a page with tables, curves, tests and purchases; it needs no network."""
    from hyperdfs.bench.table import select
    from hyperdfs.cli.bench_table import filters, stored_records
    from hyperdfs.cli.options import need_place
    from hyperdfs.cli.screen import print_json, stderr, stdout
    from hyperdfs.errors import InputError

    need_place("--to", to)
    records = stored_records(out)
    records = select(records, **filters(records, datasets, methods))
    if not records:
        raise InputError(f"No result in {out} matches both --datasets and --methods.")
    if not any(record.status == "done" for record in records):
        raise InputError(f"All {len(records)} results in {out} failed; there is nothing to show.")
    options = {"--datasets": datasets, "--methods": methods}
    from hyperdfs.report.benchmark import gather, render
    from hyperdfs.report.page import write_whole

    screen = stderr()
    with screen.status("Reading results …") as status:
        content = gather(
            out,
            records,
            page=to,
            options=[word for name, value in options.items() if value for word in (name, value)],
            progress=lambda name: status.update(f"Reading {name} …"),
        )
        write_whole(render(content), to)
    if as_json:
        names = {"datasets": [view.name for view in content.datasets]}
        names["methods"] = [method.label for method in content.methods]
        print_json({"page": str(to), **names})
        return
    n_sets, n_methods = len(content.datasets), len(content.methods)
    stdout().print(
        f"{n_sets} data set{'s' * (n_sets != 1)}, {n_methods} method{'s' * (n_methods != 1)}: {to}",
        markup=False,
        soft_wrap=True,
    )
