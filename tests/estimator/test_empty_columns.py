"""Columns without a value in the rows of a fit, as a fold of a table with gaps has them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, cross_val_score

from bench_cells import task_of
from hyperdfs import HyperDFSClassifier, load
from hyperdfs.bench.protocol import run_cell
from hyperdfs.errors import InputError
from small_tables import TINY, fit, mixed

GROUPS = {"body": ["age", "height", "pulse"]}
EMPTY = {"late": np.nan, "pulse": np.nan, "word": None}
LATER = {"late": 1.5, "pulse": 70.0, "word": "any"}


@pytest.fixture(scope="module", params=["default", "paper"])
def clf(request):
    X, y = mixed()
    with pytest.warns(UserWarning, match="No training row has a value of .*'late'.*drop it") as w:
        model = fit(X.assign(**EMPTY), y, max_budget=7, groups=GROUPS, preset=request.param)
    assert len(w) == 1
    assert w[0].filename.endswith("small_tables.py")  # where the user calls fit
    return model


@pytest.fixture(scope="module")
def rows():
    return mixed(20, seed=1)[0].assign(**LATER)


def test_later_values_are_ignored(clf, rows):
    without = rows.assign(**EMPTY)
    np.testing.assert_array_equal(clf.predict_proba(rows), clf.predict_proba(without))
    np.testing.assert_array_equal(clf.acquire(rows).proba, clf.acquire(without).proba)


def test_they_are_bought_last(clf, rows):
    order = clf.acquire(rows, 7).order
    last = [clf.features_.index(name) for name in ("late", "word")]
    assert (np.sort(order[:, 5:], axis=1) == last).all()


def test_a_case_neither_knows_nor_recommends_them(clf):
    case = clf.start_case(late=3.0, word="any", job="cook")
    assert case.values == {"job": "cook"}
    assert {item.feature for item in case.recommend(9)} == {"body", "smoker", "grade", "visits"}
    for feature in ("body", "smoker", "grade", "visits"):
        assert not case.done
        case.skip(feature)
    assert case.done
    assert case.recommend() is None


def test_they_stay_so_in_a_file(clf, rows, tmp_path):
    clf.save(tmp_path / "m.hdfs")
    again = load(tmp_path / "m.hdfs")
    np.testing.assert_array_equal(again.acquire(rows, 7).order, clf.acquire(rows, 7).order)
    np.testing.assert_array_equal(again.predict_proba(rows), clf.predict_proba(rows))


def test_the_teacher_does_without_them():
    X, y = mixed()
    with pytest.warns(UserWarning, match="'late'"):
        model = fit(X.assign(late=np.nan), y, max_budget=2, config={"teacher_weight": 0.5})
    assert np.isfinite(model.predict_proba(X.assign(late=1.0))).all()


@pytest.mark.filterwarnings("ignore:No training row")
def test_a_rare_value_does_not_fail_a_fold():
    X, y = mixed()
    X["late"] = np.where(np.arange(len(X)) == 7, "seen", None)
    scores = cross_val_score(
        HyperDFSClassifier(max_budget=2, config=TINY), X, y, cv=KFold(3), error_score="raise"
    )
    assert np.isfinite(scores).all()


@pytest.mark.filterwarnings("ignore:No training row")
@pytest.mark.parametrize("fold", [0, 1])
def test_nor_a_fold_of_a_benchmark(fold, tmp_path):
    X, y = mixed(missing=False)
    X["late"] = np.where(np.arange(len(X)) == 7, 1.5, np.nan)
    X.assign(risk=y).to_csv(tmp_path / "own.csv", index=False)
    (tmp_path / "own.toml").write_text('target = "risk"')
    task = task_of("own", fold=fold, n_folds=2, source=str(tmp_path / "own.toml"))
    record, _ = run_cell(task, task.record(), trials=tmp_path)
    assert record.status == "done"
    assert all(record.checks.values())


def test_a_table_without_any_value_is_refused():
    table = pd.DataFrame({"a": [np.nan] * 4, "b": [None] * 4})
    with pytest.raises(InputError, match=r"some column must have a value.* 'a', 'b'; check"):
        fit(table, [0, 1, 0, 1])
