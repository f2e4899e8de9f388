"""`hyperdfs bench`: run a benchmark, watch it, and read its results."""

from __future__ import annotations

import typer

from hyperdfs.cli.bench_report import report
from hyperdfs.cli.bench_run import run
from hyperdfs.cli.bench_slim import slim
from hyperdfs.cli.bench_status import status
from hyperdfs.cli.bench_table import table
from hyperdfs.cli.options import help_of

bench = typer.Typer(
    help="Compare methods on many data sets: run, watch, tabulate.", no_args_is_help=True
)
for command in (run, status, table, report, slim):
    bench.command(help=help_of(command))(command)
