"""`hyperdfs bench table`: the scores of a store of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from hyperdfs.bench.cells import CellRecord
    from hyperdfs.bench.table import Results
    from hyperdfs.bench.table_grid import Cell, Grid


GAP = 3  # between two columns

Datasets = Annotated[
    str | None,
    typer.Option(help="Only these, separated by commas; also synthetic, tables, images, paper."),
]
Methods = Annotated[str | None, typer.Option(help="Only these; ranks are among what is shown.")]


class Format(StrEnum):
    """How the table is printed."""

    rich = "rich"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


def table(
    out: Annotated[Path, typer.Option(help="Folder of results that `bench run` filled.")],
    format: Annotated[Format, typer.Option(help="How to print it.")] = Format.rich,
    metric: Annotated[
        str,
        typer.Option(help="f1_macro, accuracy, auroc, log_loss, brier, ece, cost_area, seconds."),
    ] = "f1_macro",
    datasets: Datasets = None,
    methods: Methods = None,
    group: Annotated[
        str | None,
        typer.Option(help="Only methods of ours, literature, multi, controls, other."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the rows of --format csv as JSON.")
    ] = False,
) -> None:
    """Print the score of every method on every data set, with means, ranks and the paper's numbers.

    A score is the mean of the metric over 2 to 10 purchases: mean ± standard deviation over folds.
    `--metric seconds` is the time of one core for fit and purchases.
    """
    from hyperdfs.bench.table import tabulate
    from hyperdfs.bench.table_grid import grids, legend
    from hyperdfs.bench.table_groups import GROUPS
    from hyperdfs.bench.table_latex import to_latex
    from hyperdfs.bench.table_text import to_csv, to_markdown
    from hyperdfs.cli.options import names
    from hyperdfs.cli.screen import print_json
    from hyperdfs.errors import InputError

    if as_json and format is not Format.rich:
        raise InputError(f"--json is a format of its own, got --format {format}; choose one.")
    records = stored_records(out)
    wanted_groups = names(group)
    known = [g.name for g in GROUPS]
    for name in wanted_groups or ():
        if name not in known:
            raise InputError(f"--group must be one of {', '.join(known)}, got {name!r}.")
    results = tabulate(
        records,
        metric=metric,
        **filters(records, datasets, methods),
        groups=wanted_groups,
    )
    if not results.scores:
        raise InputError(_nothing(records, metric, out))
    if as_json:
        print_json(csv_rows(to_csv(results)))
    elif format is Format.csv:
        typer.echo(to_csv(results), nl=False)
    elif format is Format.markdown:
        typer.echo(to_markdown(grids(results), legend(results)), nl=False)
    elif format is Format.latex:
        typer.echo(to_latex(grids(results), legend(results)), nl=False)
    else:
        _show(results)


def csv_rows(text: str) -> list[dict[str, Any]]:
    """The lines of a CSV table with numbers as numbers, yes and no as booleans, blanks as None.

    >>> csv_rows("dataset,mean,comparable,note\\n130,71.5,yes,")
    [{'dataset': '130', 'mean': 71.5, 'comparable': True, 'note': None}]
    """
    import csv

    return [
        {name: _value(name, cell) for name, cell in row.items()}
        for row in csv.DictReader(text.splitlines())
    ]


def _value(column: str, cell: str) -> Any:
    if not cell:
        return None
    if column in ("dataset", "method", "note", "kind", "group", "lacks"):
        return cell
    if column in ("comparable", "ranked"):
        return cell == "yes"
    return int(cell) if cell.isdigit() else float(cell)


def stored_records(out: Path) -> list[CellRecord]:
    """All records of a store, or one sentence about why there are none."""
    from hyperdfs.bench.cells import read_records
    from hyperdfs.errors import InputError

    records = read_records(out) if out.is_dir() else []
    if not records:
        raise InputError(
            f"--out must be a folder that `hyperdfs bench run --out` filled; {out} has no results."
        )
    return records


def filters(
    records: list[CellRecord], datasets: str | None, methods: str | None
) -> dict[str, tuple[str, ...] | None]:
    """What --datasets and --methods name; each name must occur in the store."""
    from hyperdfs.bench.table import dataset_tags

    return {
        "datasets": _chosen("--datasets", datasets, records, of=dataset_tags),
        "methods": _chosen("--methods", methods, records, of=lambda r: {r.key.label}),
    }


def _chosen(
    option: str,
    text: str | None,
    records: list[CellRecord],
    *,
    of: Callable[[CellRecord], set[str]],
) -> tuple[str, ...] | None:
    from hyperdfs.cli.options import names
    from hyperdfs.errors import InputError, listing

    stored = set().union(*map(of, records))
    wanted = names(text)
    for name in wanted or ():
        if name not in stored:
            known = listing(sorted(stored))
            raise InputError(f"{option} must name stored results, got {name!r}; there are {known}.")
    return wanted


def _nothing(records: list[CellRecord], metric: str, out: Path) -> str:
    from hyperdfs.bench.table import METRICS, cell_score

    done = [record for record in records if record.status == "done"]
    if not done:
        return f"All {len(records)} results in {out} failed; `hyperdfs bench status` shows why."
    stored = [name for name in METRICS if any(cell_score(r, name) is not None for r in done)]
    if metric not in stored:
        return f"--metric must be stored in {out}, got {metric!r}; there are {', '.join(stored)}."
    return f"No finished result in {out} matches all of --datasets, --methods and --group."


def _show(results: Results) -> None:
    from hyperdfs.bench.table_grid import grids, legend
    from hyperdfs.cli.screen import stdout

    console = stdout()
    for grid in grids(results, decimals=results.spec.decimals):
        _show_grid(console, grid)
    for line in legend(results):
        console.print(line, style="dim", markup=False)


def _show_grid(console: Console, grid: Grid) -> None:
    """As many methods side by side as the terminal has room for, in blocks."""
    from hyperdfs.cli.screen import listing_table

    console.print(f"[bold]{grid.title}[/]")
    widths = [_width(grid, i) for i in range(len(grid.columns))]
    first = max(len("Data set"), *(len(row.name) for row in grid.rows))
    for block in blocks(widths, console.width - first):
        shown = listing_table("Data set", *(f">{grid.columns[i].label}" for i in block))
        for column in shown.columns:
            column.no_wrap = True
        for row in grid.rows:
            shown.add_row(
                row.name,
                *(_drawn(row.cells[i]) for i in block),
                style="italic" if row.average else "",
            )
        console.print(shown)
        console.print()
    verdicts = [(row.name, row.paper) for row in grid.rows if row.paper]
    if verdicts:
        beside = listing_table("Data set", "Comparable with the paper")
        for name, verdict in verdicts:
            beside.add_row(name, verdict)
        console.print(beside)
        console.print()
    for note in grid.notes:
        console.print(note, style="dim", markup=False)
    console.print()


def blocks(widths: Sequence[int], room: int) -> list[list[int]]:
    """Columns in order, as many to a block as fit in `room`, at least one.

    >>> blocks([10, 10, 10, 40], room=35)
    [[0, 1], [2], [3]]
    """
    result: list[list[int]] = [[]]
    left = room
    for i, width in enumerate(widths):
        if result[-1] and width + GAP > left:
            result.append([])
            left = room
        result[-1].append(i)
        left -= width + GAP
    return result


def _width(grid: Grid, column: int) -> int:
    cells = [_drawn(row.cells[column]).plain for row in grid.rows]
    lines = [line for cell in cells for line in cell.splitlines()]
    return max(map(len, [*lines, grid.columns[column].label]))


def _drawn(cell: Cell | None) -> Text:
    """Mean and spread; below them, in grey, what the paper has."""
    from rich.text import Text

    text = Text()
    if cell is None:
        return text
    text.append("★" * cell.best + cell.mean, style="bold" if cell.group_best else "")
    text.append(f"±{cell.std}" if cell.std else "")
    text.append(f" [{cell.lacks}]" if cell.lacks else "", style="yellow")
    text.append(f"\n({cell.paper})" if cell.paper else "", style="dim")
    return text
