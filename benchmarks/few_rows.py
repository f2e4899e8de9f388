"""Small training sets, large test sets: where a table of 200 rows is the rule, who is better?

    python benchmarks/few_rows.py

The folds of Wine and Heart hold 36 and 54 test rows; one wine is worth about three points. Here
every method is fitted on the same random 200 rows of a larger table and scored on up to 2,000
others, several times. Every finished fit is a JSON file in --out; a rerun does only what is missing
and prints the table. The data files are those of the benchmark (`hyperdfs datasets NAME`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from itertools import product
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import StratifiedShuffleSplit

import hyperdfs
from hyperdfs.atomic import replacing
from hyperdfs.datasets import load_dataset
from hyperdfs.metrics import mean_log_loss, mean_macro_f1

DATASETS = "bank,california,pima,thyroid"
METHODS = "hyperdfs,hyperens,ensemble,repa,gdfs,dime,vip,static_mlp,static_trees,trees_missing"
MOST_TEST_ROWS = 2000


def run(dataset: str, method: str, draw: int, rows: int, out: Path) -> None:
    """Fit one draw and store its scores."""
    path = out / f"{dataset}-{rows}-{method}-{draw}.json"
    if path.exists():
        return
    import torch

    torch.set_num_threads(1)
    data = load_dataset(dataset)
    split = StratifiedShuffleSplit(
        1,
        train_size=rows,
        test_size=min(MOST_TEST_ROWS, len(data.y) - rows),
        random_state=draw,
    )
    train, test = next(split.split(data.X, data.y))
    model = hyperdfs.DFSClassifier(method=method, random_state=draw)
    model.fit(data.X.iloc[train], data.y[train])
    bought = model.acquire(data.X.iloc[test], min(10, data.X.shape[1]))
    labels = np.searchsorted(model.classes_, data.y[test])
    cell = {
        "dataset": dataset,
        "method": method,
        "draw": draw,
        "rows": rows,
        "test_rows": len(test),
        "auac": mean_macro_f1(labels, bought.proba[:, 2:]),
        "log_loss": mean_log_loss(labels, bought.proba[:, 2:]),
        "config": model.config_.model_dump(mode="json"),
        "versions": {
            "hyperdfs": hyperdfs.__version__,
            "torch": str(torch.__version__),
            "python": platform.python_version(),
        },
    }
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(cell, indent=1) + "\n")


def print_table(out: Path, rows: int) -> None:
    """Mean scores, and the paired difference to Hyper-DFS with its standard error."""
    cells: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for path in sorted(out.glob(f"*-{rows}-*.json")):
        cell = json.loads(path.read_text())
        cells.setdefault((cell["dataset"], cell["method"]), {})[cell["draw"]] = cell
    table = Table(title=f"Fitted on {rows} rows: AUAC-F1 in %, log-loss, mean over the draws")
    for name in ("data set", "method", "AUAC-F1", "minus Hyper-DFS", "log-loss", "draws"):
        table.add_column(name, justify="left" if name in ("data set", "method") else "right")
    previous = None
    for dataset, method in sorted(cells, key=lambda key: (key[0], -_mean(cells[key], "auac"))):
        some, ours = cells[dataset, method], cells.get((dataset, "hyperdfs"), {})
        gap = [100 * (some[i]["auac"] - ours[i]["auac"]) for i in some if i in ours]
        error = np.std(gap, ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
        if previous not in (None, dataset):
            table.add_section()
        table.add_row(
            "" if previous == dataset else dataset,
            method,
            f"{100 * _mean(some, 'auac'):.2f}",
            "" if method == "hyperdfs" or not gap else f"{np.mean(gap):+.2f} ± {error:.2f}",
            f"{_mean(some, 'log_loss'):.3f}",
            str(len(some)),
        )
        previous = dataset
    Console(width=90).print(table)


def _mean(cells: dict[int, dict[str, Any]], score: str) -> float:
    return float(np.mean([cell[score] for cell in cells.values()]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--datasets", default=DATASETS)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("results/few-rows"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    jobs = product(range(options.draws), options.datasets.split(","), options.methods.split(","))
    Parallel(options.jobs, verbose=5)(
        delayed(run)(dataset, method, draw, options.rows, options.out)
        for draw, dataset, method in jobs
    )
    print_table(options.out, options.rows)


if __name__ == "__main__":
    main()
