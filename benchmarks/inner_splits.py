"""Settings compared where it is allowed: on splits inside the training parts of the folds.

    python benchmarks/inner_splits.py heart vip moe --set teacher_weight=0.5

Each of the five folds of the benchmark keeps its test rows; its training rows are split once more
into five, and the first --splits of these are run. One thread; nothing is stored.
"""

from __future__ import annotations

import argparse
import json
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.model_selection import StratifiedKFold

from hyperdfs import DFSClassifier
from hyperdfs.bench.splits import fold_rows
from hyperdfs.datasets import Dataset, load_dataset

FOLDS = 5


def score(data: Dataset, method: str, config: dict[str, object], splits: int) -> list[float]:
    """AUAC-F1 in % of every split."""
    scores = []
    for fold in range(FOLDS):
        rows, _ = fold_rows(data.y, np.arange(len(data.y)), FOLDS, fold)
        inner = StratifiedKFold(FOLDS, shuffle=True, random_state=7)
        for seed, (a, b) in enumerate(list(inner.split(rows, data.y[rows]))[:splits]):
            train, test = rows[a], rows[b]
            model = DFSClassifier(method, groups=data.features, config=config, random_state=seed)
            model.fit(data.X.iloc[train], data.y[train])
            scores.append(100 * model.auac(data.X.iloc[test], data.y[test]))
    return scores


def setting(text: str) -> tuple[str, object]:
    """``name=value``; the value is read as JSON."""
    name, _, value = text.partition("=")
    return name, json.loads(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("methods", nargs="+")
    parser.add_argument("--set", action="append", type=setting, default=[], dest="config")
    parser.add_argument("--splits", type=int, default=3, choices=range(1, FOLDS + 1))
    options = parser.parse_args()
    data, config = load_dataset(options.dataset), dict(options.config)
    for method in options.methods:
        started = time.process_time()
        scores = score(data, method, config, options.splits)
        error = np.std(scores) / len(scores) ** 0.5
        each = (time.process_time() - started) / len(scores)
        print(
            f"{options.dataset} {method} {config}: {np.mean(scores):.2f} ± {error:.2f} "
            f"({len(scores)} splits, {each:.1f} s each)",
            flush=True,
        )


if __name__ == "__main__":
    main()
