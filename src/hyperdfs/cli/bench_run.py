"""`hyperdfs bench run`: fill a folder with results, and go on where the last run stopped."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from hyperdfs.bench.cells import CellRecord
    from hyperdfs.bench.runner import Agenda

SOME_FAILED = 1


class Profile(StrEnum):
    """How much of each data set is used."""

    full = "full"
    quick = "quick"


class EngineName(StrEnum):
    """What runs the cells."""

    local = "local"
    ray = "ray"
    slurm = "slurm"


def run(
    out: Annotated[Path, typer.Option(help="Folder of results; what it has is not run again.")],
    methods: Annotated[
        str | None, typer.Option(help="Methods or variants of the plan, separated by commas.")
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(help="Names, cards, or tables, synthetic, images, paper for what is at hand."),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(help="A TOML file; the other options replace what it says.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Of the cross-validation; else 5.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Repetitions of each fold; else 1.")
    ] = None,
    profile: Annotated[
        Profile | None,
        typer.Option(help="quick keeps at most 20,000 rows of each set; else full, all rows."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Cells at a time; else one per processor.")
    ] = None,
    engine: Annotated[EngineName, typer.Option(help="What runs the cells.")] = EngineName.local,
    address: Annotated[
        str | None, typer.Option(help="A running Ray cluster, e.g. auto or ray://host:10001.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run cells that failed once more.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as JSON, the progress on stderr.")
    ] = False,
) -> None:
    """Run every method on every fold of every data set that is not in the folder yet.

    It may be stopped or killed at any moment; the same command then goes on. The exit code is 1
    when a cell failed.
    """
    from contextlib import closing

    from hyperdfs.bench import runner
    from hyperdfs.bench.choices import choose
    from hyperdfs.bench.engines import make_engine
    from hyperdfs.bench.plan import cells, left_out, read_plan
    from hyperdfs.cli.bench_screen import Screen
    from hyperdfs.cli.options import names
    from hyperdfs.cli.screen import counted, print_json, stderr, stdout
    from hyperdfs.errors import listing

    wanted = read_plan(
        plan,
        methods=names(methods),
        datasets=names(datasets),
        folds=folds,
        seeds=seeds,
        profile=profile and profile.value,
    )
    console = stderr() if as_json else stdout()
    wanted.rows_of()  # a wrong method is told before a data set is read
    chosen, absent = choose(wanted.datasets)
    for name, why in absent.items():
        console.print(f"{name} is left out: {why} (`hyperdfs datasets {name}`).", markup=False)
    for choice in chosen:
        for note in choice.notes:
            console.print(f"{choice.name}  note  {note}", markup=False, soft_wrap=True)
    tasks = cells(wanted, chosen)
    for label, unfit in left_out(wanted, chosen).items():
        console.print(
            f"{label} is left out on {listing(unfit)}: it is for synthetic data only.", markup=False
        )
    worker = make_engine(engine.value, jobs=jobs, address=address, folder=out, slurm=wanted.slurm)
    agenda = runner.prepare(out, tasks, retry_failed=retry_failed)
    console.print(_opening(out, agenda), markup=False)
    broken = list(agenda.failed)
    records = runner.run(out, agenda.missing, worker)
    with Screen(console, out, agenda) as screen, closing(records) as came:
        for record in came:
            screen.show(record)
            if record.status == "failed":
                broken.append(record)
    if as_json:
        print_json(_outcome(out, agenda, broken))
        raise typer.Exit(SOME_FAILED if broken else 0)
    console.print(f"\n{counted(agenda.total - len(broken), 'cell')} done, {len(broken):,} failed.")
    folder = shlex.quote(str(out))
    if broken:
        console.print(f"`hyperdfs bench status --out {folder}` tells why.", markup=False)
        raise typer.Exit(SOME_FAILED)
    console.print(f"Next: hyperdfs bench table --out {folder}", markup=False)


def _outcome(out: Path, agenda: Agenda, broken: list[CellRecord]) -> dict[str, Any]:
    """The cells of the plan; `stored` of them were in the folder before, done or failed."""
    return {
        "out": str(out),
        "done": agenda.total - len(broken),
        "failed": len(broken),
        "stored": len(agenda.done) + len(agenda.failed),
        "failures": [{"key": r.key.model_dump(), "reason": r.reason()} for r in broken],
    }


def _opening(out: Path, agenda: Agenda) -> str:
    from hyperdfs.cli.screen import counted

    stored = f"{len(agenda.done):,} stored in {out}"
    if agenda.failed:
        stored += f", {len(agenda.failed):,} failed before (--retry-failed runs them again)"
    return f"{counted(agenda.total, 'cell')}: {stored}, {len(agenda.missing):,} to run."
