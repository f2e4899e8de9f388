"""Labels of every type, and tables that are small or odd."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hyperdfs.cli.app import main
from hyperdfs.errors import InputError
from small_tables import fit, numbers

LABELS = {
    "int": (np.array([3, -1]), "i"),
    "str": (np.array(["no", "yes"]), "U"),
    "bool": (np.array([True, False]), "b"),
    "float": (np.array([1.0, 2.0]), "f"),
    "object of text": (np.array(["a", "bb"], dtype=object), "O"),
    "object of ints": (np.array([1, 0], dtype=object), "i"),
    "object of bools": (np.array([True, False], dtype=object), "b"),
    "list": (["a", "b"], "U"),
    "Int64": (pd.Series([1, 2], dtype="Int64"), "i"),
    "boolean": (pd.Series([True, False], dtype="boolean"), "b"),
    "string": (pd.Series(["u", "v"], dtype="string"), "O"),
    "categorical": (pd.Series(["u", "v"], dtype="category"), "O"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_keep_their_type(kind):
    labels, dtype = LABELS[kind]
    X, _ = numbers(40)
    y = [*labels] * 20 if kind == "list" else labels[np.arange(40) % 2]
    if isinstance(y, pd.Series):
        y = y.reset_index(drop=True)
    clf = fit(X, y, max_budget=1)
    assert clf.classes_.dtype.kind == dtype
    assert set(clf.classes_.tolist()) == set(np.asarray(labels).tolist())
    assert set(clf.predict(X).tolist()) <= set(clf.classes_.tolist())
    assert 0 <= clf.auac(X, y, [1]) <= 1


SMALL_TABLES = {
    "two rows": (np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1]),
    "equal rows": (np.zeros((4, 3)), [0, 1, 0, 1]),
    "one feature": (np.arange(40.0)[:, None], np.arange(40) > 20),
    "a class of one row": (numbers()[0], np.r_[2, numbers()[1][1:]]),
    "mostly classes of one row": (numbers(80)[0], np.r_[np.arange(2, 32), numbers(80)[1][30:]]),
    "a constant column": (np.c_[np.ones(60), numbers()[0]], numbers()[1]),
    "rows without any cell": (
        np.where(np.arange(60)[:, None] < 5, np.nan, numbers()[0]),
        numbers()[1],
    ),
    "one value in a column": (
        np.where((np.arange(60)[:, None] > 0) & (np.arange(4) == 1), np.nan, numbers()[0]),
        numbers()[1],
    ),
    "numbers beyond float32": (
        np.where(np.arange(240).reshape(60, 4) == 3, 1e50, numbers()[0]),
        numbers()[1],
    ),
    "integer column names": (pd.DataFrame(numbers()[0], columns=[7, 3, 5, 1]), numbers()[1]),
    "a repeated index": (pd.DataFrame(numbers()[0], index=[0] * 60), numbers()[1]),
}


@pytest.mark.parametrize("what", SMALL_TABLES)
def test_small_and_odd_tables(what):
    X, y = SMALL_TABLES[what]
    clf = fit(X, y, max_budget=2)
    proba = clf.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(1), 1.0, atol=1e-5)
    a = clf.acquire(X)
    assert np.isfinite(a.proba).all()
    assert all(len(set(row)) == a.budget for row in a.order.tolist())
    assert clf.start_case().recommend() is not None


TAUGHT = ["equal rows", "a class of one row", "numbers beyond float32", "one value in a column"]


@pytest.mark.parametrize("what", TAUGHT)
def test_small_and_odd_tables_with_a_teacher(what):
    X, y = SMALL_TABLES[what]
    clf = fit(X, y, max_budget=1, config={"teacher_weight": 0.5, "stage2_epochs": 1})
    assert np.isfinite(clf.predict_proba(X)).all()


def test_one_feature_is_scored_after_its_only_purchase(tmp_path):
    X, y = numbers(40, 1)
    X = pd.DataFrame(X, columns=["age"])
    clf = fit(X, y)
    curve = clf.acquisition_curve(X, y)
    assert curve.index.tolist() == [1]
    assert clf.auac(X, y) == curve[1]
    with pytest.raises(InputError, match="between 0 and the 1 features"):
        clf.auac(X, y, [2, 3])
    clf.save(tmp_path / "one.hdfs")
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    files = [str(tmp_path / name) for name in ("one.hdfs", "rows.csv")]
    assert main(["evaluate", *files, "--target", "y"]) == 0
