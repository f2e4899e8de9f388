"""`hyperdfs train`: a model from a table on disk."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from rich.console import Console

    from hyperdfs.cli.scoring import Scores
    from hyperdfs.estimator import DFSClassifier

PRESET = "default, or the published values: paper for Hyper-DFS, authors for other methods."


def train(
    table: Annotated[Path, typer.Argument(help="Training rows: .csv, .tsv or .parquet.")],
    target: Annotated[str, typer.Option(help="Column that holds the labels.")],
    out: Annotated[Path, typer.Option(help="Model file to write.")] = Path("model.hdfs"),
    method: Annotated[str, typer.Option(help="See `hyperdfs methods`.")] = "hyperdfs",
    members: Annotated[int, typer.Option(min=1, help="5 makes Hyper-DFS a HyperEns.")] = 1,
    budget: Annotated[int, typer.Option(min=1, help="Most purchases to train for.")] = 10,
    preset: Annotated[str, typer.Option(help=PRESET)] = "default",
    costs: Annotated[
        Path | None, typer.Option(help="Prices by feature: .csv, .json or .toml.")
    ] = None,
    groups: Annotated[
        Path | None, typer.Option(help="Columns bought together: .json or .toml.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to ignore; repeatable.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A field of the configuration, stage1_epochs=20; repeatable."),
    ] = None,
    test_fraction: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="Rows held out to score the model; 0: none.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same model.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Fit a model on a table and save it.

    The file holds the model that was fitted on the rows that were not held out.
    """
    from hyperdfs.cli.files import need_columns, read_costs, read_groups, read_table, split_target
    from hyperdfs.cli.held_out import hold_out
    from hyperdfs.cli.options import need_place
    from hyperdfs.cli.screen import print_json, stderr, stdout
    from hyperdfs.datasets.oddities import copies, oddities
    from hyperdfs.datasets.table_cells import read_gaps
    from hyperdfs.datasets.table_labels import need_classes
    from hyperdfs.errors import InputError

    settings = parse_settings(set_ or [])
    prices = read_costs(costs) if costs else None
    together = read_groups(groups) if groups else None
    rows = read_table(table)
    need_columns(rows, [target, *(drop or [])])
    if target in (drop or []):
        raise InputError(f"--drop takes columns other than the target, got {target!r}; leave it.")
    rows, gaps = read_gaps(rows.drop(columns=drop or []))
    X, y, without = split_target(rows, target)
    need_classes(rows[target])
    need_place("--out", out)
    console = stderr() if as_json else stdout()
    _show_table(console, table, X, y, without)
    common: dict[str, Any] = {
        "max_budget": budget,
        "costs": prices,
        "groups": together,
        "preset": preset,
        "config": settings or None,
        "random_state": seed,
        "verbose": 1,
    }
    clf = _make(method, members, common)
    seen, unseen = hold_out(y, test_fraction, seed)
    _check_cells(table, X, seen)
    for sentence in (*gaps, *oddities(X), *copies(rows)):
        console.print(f"  note     {sentence}", markup=False, soft_wrap=True)
    started = time.perf_counter()
    clf.fit(X.iloc[seen], y[seen])
    seconds = time.perf_counter() - started
    clf._state.target = target
    clf.save(out)
    scores = _score(clf, X, y, unseen, seed)
    if as_json:
        print_json(_summary(out, clf, len(seen), seconds, scores))
        return
    _report(console, out, clf, (len(seen), len(y)), seconds, scores)


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """``field=value`` pairs; a value is JSON where it can be, else text.

    >>> parse_settings(["stage1_epochs=5", "encoder=deep_sets"])
    {'stage1_epochs': 5, 'encoder': 'deep_sets'}
    """
    import json

    from hyperdfs.errors import InputError

    settings: dict[str, Any] = {}
    for pair in pairs:
        name, found, text = pair.partition("=")
        if not found or not name:
            raise InputError(f"--set must look like field=value, got {pair!r}.")
        try:
            settings[name.strip()] = json.loads(text)
        except ValueError:
            settings[name.strip()] = text
    return settings


def _make(method: str, members: int, common: dict[str, Any]) -> DFSClassifier:
    from hyperdfs import DFSClassifier, HyperDFSClassifier
    from hyperdfs.errors import InputError

    if method == "hyperdfs":
        return HyperDFSClassifier(n_members=members, **common)
    if members != 1:
        raise InputError(f"--members goes with --method hyperdfs only, got {method!r}.")
    return DFSClassifier(method, **common)


def _check_cells(path: Path, X: pd.DataFrame, seen: np.ndarray) -> None:
    """Raise for a cell that cannot be read, in a row to fit or to score, before the long fit."""
    from hyperdfs.cli.files import file_rows
    from hyperdfs.preprocess.readings import fit_reader, read_table

    with file_rows(path, X.index.tolist()):
        readers = [fit_reader(name, X[name].iloc[seen], pool=True) for name in X.columns]
        read_table(X, readers)


def _score(
    clf: DFSClassifier, X: pd.DataFrame, y: np.ndarray, unseen: np.ndarray, seed: int
) -> Scores | None:
    from hyperdfs.cli.scoring import score

    if not len(unseen):
        return None
    return score(clf, X.iloc[unseen], y[unseen], range(1, clf.max_budget_ + 1), seed)


def _show_table(console: Console, path: Path, X: pd.DataFrame, y: np.ndarray, without: int) -> None:
    """What was found in the file, so that a wrong kind is seen before the fit."""
    import numpy as np
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    from hyperdfs.cli.screen import counted, without_label

    numbers = sum(is_numeric_dtype(d) and not is_bool_dtype(d) for d in X.dtypes)
    labels, counts = np.unique(y, return_counts=True)
    shares = ", ".join(f"{k} {n / len(y):.0%}" for k, n in zip(labels[:6], counts[:6], strict=True))
    more = f" and {len(labels) - 6} more" if len(labels) > 6 else ""
    missing = float(X.isna().to_numpy().mean()) if X.size else 0.0
    size = f"{counted(len(X), 'row')}, {counted(X.shape[1], 'column')}"
    categories = counted(X.shape[1] - numbers, "category", "categories")
    console.print(f"{path}: {size}", markup=False)
    console.print(f"  kinds    {counted(numbers, 'number')}, {categories}")
    console.print(f"  missing  {missing:.1%} of the cells")
    console.print(f"  classes  {shares}{more}", markup=False)
    if without:
        console.print(f"  {without_label(without)}")


def _summary(
    out: Path, clf: DFSClassifier, n_rows: int, seconds: float, scores: Scores | None
) -> dict[str, Any]:
    return {
        "model": str(out),
        "method": clf.method,
        "n_rows": n_rows,
        "n_features": len(clf.features_),
        "classes": clf.classes_.tolist(),
        "fit_seconds": round(seconds, 2),
        "held_out": scores.as_dict() if scores else None,
    }


def _report(
    console: Console,
    out: Path,
    clf: DFSClassifier,
    rows: tuple[int, int],
    seconds: float,
    scores: Scores | None,
) -> None:
    from hyperdfs.cli.scoring import print_scores
    from hyperdfs.cli.screen import counted

    seen, total = rows
    console.print(f"\nFitted on {counted(seen, 'row')} in {seconds:.0f} s.")
    if scores:
        console.print(f"On the {counted(scores.n_rows, 'row')} it has not seen:\n")
        print_scores(console, scores)
    else:
        console.print("No rows were held out, so there is no score.")
    console.print(f"\nSaved {out} (fitted on {seen:,} of {counted(total, 'row')}).", markup=False)
    console.print(f"Next: hyperdfs ask {shlex.quote(str(out))}", markup=False)
