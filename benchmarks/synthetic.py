"""Hyper-DFS and HyperEns on the synthetic sets, against the Bayes ceilings.

    python benchmarks/synthetic.py --out results/synthetic

Stratified 5-fold cross-validation on N = 10,000 rows, one core per fit. Every finished fold is a
JSON file in --out, written atomically; a rerun does only what is missing and prints the table.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from itertools import product
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold

import hyperdfs
from hyperdfs.datasets import dataset_info, load_dataset

SETS = "synpairs,cube,proxysub,syn4,syn5,syn6"
BUDGETS = range(1, 11)


def run_fold(name: str, members: int, preset: str, fold: int, out: Path) -> None:
    """Fit one fold and store its curves."""
    path = out / f"{name}-{preset}-{members}-{fold}.json"
    if path.exists():
        return
    import torch

    torch.set_num_threads(1)
    data = load_dataset(name)
    splits = StratifiedKFold(5, shuffle=True, random_state=0).split(data.X, data.y)
    train, test = list(splits)[fold]
    started, cpu = time.perf_counter(), time.process_time()
    model = hyperdfs.HyperDFSClassifier(n_members=members, preset=preset, random_state=fold)
    model.fit(data.X.iloc[train], data.y[train])
    cpu = time.process_time() - cpu
    curve = model.acquisition_curve(data.X.iloc[test], data.y[test], BUDGETS)
    cell = {
        "dataset": name,
        "members": members,
        "preset": preset,
        "fold": fold,
        "auac": float(curve.loc[2:].mean()),
        "f1_macro": {int(b): float(v) for b, v in curve.items()},
        "oracle_auac": oracle_auac(data, test),
        "fit_cpu_seconds": cpu,
        "seconds": time.perf_counter() - started,
        "parameters": model._state.model.parameters(),
        "columns": model._state.shape.n_columns,
        "config": model.config_.model_dump(mode="json"),
        "versions": {
            "hyperdfs": hyperdfs.__version__,
            "torch": str(torch.__version__),
            "python": platform.python_version(),
        },
    }
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps(cell, indent=1) + "\n")
    os.replace(temporary, path)


def oracle_auac(data: object, test: np.ndarray) -> float:
    """The exact posterior under the best known policy that does not know its budget, same rows."""
    from hyperdfs.metrics import mean_macro_f1

    x, y, oracle = data.X.iloc[test].to_numpy(), data.y[test], data.oracle
    mask = np.zeros(x.shape, bool)
    steps = []
    for _ in range(min(max(BUDGETS), x.shape[1])):
        mask[np.arange(len(x)), oracle.policy(x, mask)] = True
        steps.append(oracle.posterior(x, mask))
    return mean_macro_f1(y, np.stack(steps[1:], 1))


def print_table(out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    cells = [json.loads(path.read_text()) for path in sorted(out.glob("*.json"))]
    table = Table(title="AUAC-F1 in %, mean ± std over folds")
    for column in (
        "data set",
        "model",
        "AUAC-F1",
        "oracle, same rows",
        "ceiling",
        "% of ceiling",
        "folds",
        "fit CPU s",
    ):
        table.add_column(column, justify="left" if column in ("data set", "model") else "right")
    for key in sorted({(c["dataset"], c["preset"], c["members"]) for c in cells}):
        some = [c for c in cells if (c["dataset"], c["preset"], c["members"]) == key]
        auac = 100 * np.array([c["auac"] for c in some])
        info = dataset_info(key[0]).ceiling
        table.add_row(
            key[0],
            ("HyperEns" if key[2] > 1 else "Hyper-DFS")
            + ("" if key[1] == "default" else " (paper)"),
            f"{auac.mean():.2f} ± {auac.std():.2f}",
            f"{100 * np.mean([c['oracle_auac'] for c in some]):.2f}",
            f"{info.auac:.2f}",
            f"{100 * auac.mean() / info.auac:.1f}",
            str(len(some)),
            f"{np.mean([c['fit_cpu_seconds'] for c in some]):.0f}",
        )
    Console(width=110).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=SETS)
    parser.add_argument("--members", default="1,5")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("results/synthetic"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    cells = product(
        map(int, options.members.split(",")), options.datasets.split(","), range(options.folds)
    )
    Parallel(options.jobs)(
        delayed(run_fold)(name, members, options.preset, fold, options.out)
        for members, name, fold in cells
    )
    print_table(options.out)


if __name__ == "__main__":
    main()
