"""One small mixed table and one small model for all tests of the command line and the README."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

# Data files that lie beside the repository serve the tests that read real tables.
BESIDE = Path(__file__).parents[2] / "shared" / "data"
if BESIDE.is_dir():
    os.environ.setdefault("HYPERDFS_DATA", str(BESIDE))

QUICK = {
    "stage1_epochs": 4,
    "stage2_epochs": 3,
    "stage2_epoch_steps": 1,
    "teacher_weight": 0.0,
}


def mixed_table(n: int = 240, seed: int = 0) -> pd.DataFrame:
    """Numbers, categories, a boolean and missing cells; `risk` follows from two of them."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n).astype(float)
    sex = rng.choice(["F", "M"], n)
    marker = rng.normal(size=n)
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": age,
            "sex": sex,
            "marker": np.round(marker, 3),
            "systolic": rng.normal(130, 15, n).round(),
            "diastolic": rng.normal(80, 10, n).round(),
            "smoker": rng.choice([True, False], n),
            "town": rng.choice(["Ash", "Birch", "Cedar"], n),
        }
    )
    risk = (age > 50) & (sex == "F") | (marker > 0.8)
    table["risk"] = np.where(risk, "high", "low")
    for column in ("age", "sex", "marker"):
        table.loc[rng.random(n) < 0.1, column] = None
    return table


@pytest.fixture(scope="session")
def table_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "clinic.csv"
    mixed_table().to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the mixed table with one group of two columns and prices."""
    from hyperdfs import HyperDFSClassifier

    table = mixed_table().drop(columns="id")
    clf = HyperDFSClassifier(
        max_budget=3,
        groups={"pressure": ["systolic", "diastolic"]},
        costs={"age": 1, "sex": 1, "marker": 5, "pressure": 3, "smoker": 1, "town": 1},
        config=QUICK,
    )
    clf.fit(table.drop(columns="risk"), table["risk"].to_numpy(str))
    path = tmp_path_factory.mktemp("model") / "clinic.hdfs"
    clf.save(path)
    return path
