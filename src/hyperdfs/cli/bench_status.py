"""`hyperdfs bench status`: what is done, what runs, what failed, how long it will take."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hyperdfs.bench.leases import Lease
    from hyperdfs.bench.status import Status

PAUSE = 2.0  # seconds between two looks


def status(
    out: Annotated[Path, typer.Option(help="Folder of results that `bench run` fills.")],
    watch: Annotated[bool, typer.Option("--watch", help="Go on until all cells are run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how far a benchmark has come; it need not be running, nor run on this machine."""
    from hyperdfs.bench.status import read_status
    from hyperdfs.cli.screen import print_json, stdout
    from hyperdfs.errors import InputError

    if watch and as_json:
        raise InputError("--watch draws on a terminal and --json prints once; choose one.")
    current = read_status(out)
    if as_json:
        print_json(current.as_dict())
        return
    console = stdout()
    if not watch:
        console.print(picture(current))
        return
    from rich.live import Live

    with Live(picture(current), console=console, auto_refresh=False) as live:
        while current.total("waiting") or current.total("running"):
            time.sleep(PAUSE)
            current = read_status(out)
            live.update(picture(current), refresh=True)


def picture(status: Status) -> RenderableType:
    """A table of the labels, then the workers, then what failed."""
    from rich.console import Group
    from rich.text import Text

    from hyperdfs.cli.bench_screen import cell_name
    from hyperdfs.cli.screen import listing_table

    table = listing_table("Method", ">Done", ">Running", ">Failed", ">Waiting", ">s/cell")
    for count in status.counts:
        numbers = (count.done, count.running, count.failed, count.waiting)
        pace = "" if count.seconds is None else f"{count.seconds:.1f}"
        table.add_row(Text(count.label), *(str(n or "") for n in numbers), pace)
    totals = [status.total(what) for what in ("done", "running", "failed", "waiting")]
    table.add_section()
    table.add_row("all", *map(str, totals), "")
    lines = [f"Time left: {_left(status)}"]
    lines += [f"Running: {cell_name(at.key)}, {_worker(at)}" for at in status.running]
    lines += [f"Died: {cell_name(at.key)}, {_worker(at)}" for at in status.stale]
    lines += [f"Failed: {cell_name(r.key)}: {r.reason()}" for r in status.failures]
    return Group(table, Text(""), *map(Text, lines))


def _left(status: Status) -> str:
    from hyperdfs.cli.bench_screen import duration

    if status.seconds_left is None:
        return "unknown" if status.running else "nobody is at work; `bench run` goes on"
    return "none" if status.seconds_left == 0 else "about " + duration(status.seconds_left)


def _worker(lease: Lease) -> str:
    from hyperdfs.cli.bench_screen import duration

    return f"for {duration(time.time() - lease.started)}, process {lease.pid} on {lease.host}"
