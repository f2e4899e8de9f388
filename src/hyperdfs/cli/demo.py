"""`hyperdfs demo`: from nothing to a result in a minute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from hyperdfs.report import CasePath, Report


def demo(
    out: Annotated[Path, typer.Option(help="HTML page to write.")] = Path("hyperdfs-demo.html"),
    rows: Annotated[int, typer.Option(min=100, help="Rows to learn from.")] = 3_000,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of the predictor.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of data and training.")] = 0,
) -> None:
    """Learn a synthetic task, show what is bought for whom, and write a page about it."""
    from hyperdfs.cli.options import need_place
    from hyperdfs.cli.screen import stdout

    need_place("--out", out)
    console = stdout()
    console.print("[bold]hyperdfs demo[/]: learning what to ask (less than a minute) …")
    from hyperdfs.demo import DemoSize, run_demo
    from hyperdfs.report import write_page

    report = run_demo(DemoSize(rows=rows, epochs=epochs, seed=seed))
    _show_curves(console, report)
    console.print("\n[bold]Three held-out cases[/] (likeliest class after each purchase)")
    for path in report.paths:
        _show_path(console, path, report)
    write_page(report, out)
    console.print(f"\nThe page with all of it: {out}", markup=False, soft_wrap=True)


def _show_curves(console: Console, report: Report) -> None:
    from hyperdfs.cli.screen import curve_table

    console.print(f"\n{report.task}\n", markup=False)
    console.print(f"[bold]{report.metric} % by number of bought features[/]\n")
    console.print(curve_table({curve.title: curve.values for curve in report.curves}))
    console.print(f"\n{report.headline}", markup=False)


def _show_path(console: Console, path: CasePath, report: Report) -> None:
    from hyperdfs.cli.screen import bar

    verdict = "[green]recognised[/]" if path.right else "[red]missed[/]"
    console.print(f"\nRow {path.row}, true class {report.classes[path.truth]}: {verdict}")
    steps = [("nothing", "", path.start), *((p.feature, p.value, p.proba) for p in path.purchases)]
    for feature, value, proba in steps:
        best = max(range(len(proba)), key=lambda k: proba[k])
        shown = f"class {report.classes[best]}  {bar(proba[best])} {100 * proba[best]:3.0f} %"
        console.print(f"  {feature:>8} {value:>6}   {shown}", markup=False)
