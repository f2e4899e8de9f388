"""A fitted model, the bytes of its file, and a smaller one."""

from __future__ import annotations

import pytest

from small_tables import fit, mixed, numbers

COSTS = {"body": 3.0, "smoker": 0.5, "job": 1.0, "grade": 0.0, "visits": 2.0}


@pytest.fixture(scope="session")
def table():
    return mixed(40, seed=1)[0]


@pytest.fixture(scope="session")
def clf():
    X, y = mixed()
    groups = {"body": ["age", "height"]}
    return fit(X, y, max_budget=3, n_members=2, groups=groups, costs=COSTS, random_state=4)


@pytest.fixture(scope="session")
def content(clf, tmp_path_factory):
    """The bytes of a saved model."""
    path = tmp_path_factory.mktemp("bundle") / "model.hdfs"
    clf.save(path)
    return path.read_bytes()


@pytest.fixture(scope="session")
def small():
    return fit(*numbers(40), max_budget=2)
