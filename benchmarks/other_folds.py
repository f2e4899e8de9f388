"""How much of a small table's score is the luck of its folds?

    python benchmarks/other_folds.py heart hyperdfs static_mlp

The benchmark cuts every table into five folds once. Here the same five-fold cross-validation is
repeated with other cuts: AUAC-F1 of each cut, their mean and its standard error. Nothing was
chosen by these scores. One thread; nothing is stored.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.model_selection import StratifiedKFold

from hyperdfs import DFSClassifier
from hyperdfs.datasets import Dataset, load_dataset

FOLDS = 5


def cross_validated(data: Dataset, method: str, cut: int) -> float:
    """Mean AUAC-F1 in % over the folds of one cut."""
    scores = []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=cut)
    for fold, (train, test) in enumerate(folds.split(data.X, data.y)):
        seed = 1000 * cut + fold
        model = DFSClassifier(method, groups=data.features, random_state=seed)
        model.fit(data.X.iloc[train], data.y[train])
        scores.append(100 * model.auac(data.X.iloc[test], data.y[test]))
    return float(np.mean(scores))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("methods", nargs="+")
    parser.add_argument("--cuts", type=int, default=4, help="random_state 1, 2, ... of the folds")
    options = parser.parse_args()
    data = load_dataset(options.dataset)
    for method in options.methods:
        started = time.process_time()
        scores = [cross_validated(data, method, cut) for cut in range(1, options.cuts + 1)]
        error = np.std(scores, ddof=1) / len(scores) ** 0.5
        each = (time.process_time() - started) / (FOLDS * len(scores))
        print(
            f"{options.dataset} {method}: {np.mean(scores):.2f} ± {error:.2f}, "
            f"cuts {' '.join(f'{score:.1f}' for score in scores)} ({each:.1f} s a fit)",
            flush=True,
        )


if __name__ == "__main__":
    main()
