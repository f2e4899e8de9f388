"""One cell: splits, scores and what is stored of it."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from bench_cells import task_of
from hyperdfs.bench.protocol import all_classes, half, make_classifier, noted, run_cell
from hyperdfs.bench.splits import fold_rows, kept_rows
from hyperdfs.datasets import load_dataset
from hyperdfs.evaluation.money import cost_area
from hyperdfs.methods import METHODS
from hyperdfs.metrics import METRICS, metric_curve
from hyperdfs.results import make_acquisition

STORED = 1e-3  # what half precision may change of a metric
TIES = 1e-2  # and of AUROC, where it makes equals of near neighbours


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    task = task_of("wine", fold=1, n_folds=3)
    return run_cell(task, task.record(), trials=tmp_path_factory.mktemp("trials"))


@pytest.mark.filterwarnings("default")
def test_warnings_of_a_fit_are_kept(tmp_path):
    def make(task, data):
        model = make_classifier(task, data)
        fit = model.fit

        def warned(X, y):
            for _ in range(2):
                warnings.warn("the table is odd", stacklevel=1)
            return fit(X, y)

        model.fit = warned
        return model

    task = task_of("wine", n_folds=3)
    record, _ = run_cell(task, task.record(), trials=tmp_path, make=make)
    assert record.warnings == ["the table is odd"]


@pytest.mark.filterwarnings("default")
def test_warnings_of_a_fit_that_fails_are_kept_too():
    record = task_of("wine").record()

    def fit():
        warnings.warn("the table is odd", stacklevel=1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), noted(record):
        fit()
    assert record.warnings == ["the table is odd"]


def test_a_cell_holds_what_the_tables_need(cell):
    record, arrays = cell
    data = load_dataset("wine")
    split = list(StratifiedKFold(3, shuffle=True, random_state=0).split(data.X, data.y))[1]
    assert np.array_equal(arrays.rows, split[1])
    assert np.array_equal(arrays.labels, data.y[split[1]])
    assert (record.n_train, record.n_test) == tuple(map(len, split))
    assert arrays.order.shape == (len(split[1]), 10)
    assert (arrays.order.dtype, arrays.proba.dtype) == (np.int16, np.float16)
    assert record.status == "done"
    assert all(record.checks.values())
    nets = {"split", "exact_budget", "no_repeat", "probabilities", "prediction", "leak"}
    assert set(record.checks) == nets
    assert record.fingerprint == data.fingerprint
    assert record.config["stage1_epochs"] == 3
    assert record.parameters > 0
    assert record.peak_memory_mb > 10
    assert 0 < record.seconds.fit_wall < record.seconds.total_wall
    assert record.cost == list(range(11))
    assert {"hyperdfs", "torch", "sklearn", "numpy", "pandas", "scipy"} <= set(record.versions)
    assert record.warnings == []
    majority = np.bincount(data.y[split[0]]).argmax()
    constant = f1_score(
        arrays.labels, np.full(len(split[1]), majority), average="macro", zero_division=0
    )
    assert record.constant_f1 == pytest.approx(constant)


def test_a_cell_keeps_whether_its_method_is_a_competitor(cell, monkeypatch, tmp_path):
    assert cell[0].ranked is True
    reference = replace(METHODS["constant"], name="mine", ranked=False)
    monkeypatch.setitem(METHODS, "mine", reference)
    task = task_of("wine", method="mine", overrides={})
    record, _ = run_cell(task, task.record(), trials=tmp_path)
    assert record.checks["leak"]
    assert record.ranked is False


def test_every_metric_follows_from_what_is_stored(cell):
    record, arrays = cell
    proba = arrays.proba.astype(float)
    for metric in METRICS:
        again = metric_curve(metric, arrays.labels, proba)
        margin = TIES if metric == "auroc" else STORED
        assert again == pytest.approx(record.curves[metric], abs=margin), metric
    assert record.auac == pytest.approx(np.mean(record.curves["f1_macro"][2:]))
    bought = make_acquisition(arrays.order.astype(int), proba, np.array(record.costs))
    area = cost_area(arrays.labels, proba, bought.cost, np.array(record.costs))
    assert area == pytest.approx(record.cost_area)


def test_the_same_task_gives_the_same_cell(cell, tmp_path):
    record, arrays = cell
    task = task_of("wine", fold=1, n_folds=3)
    again, other = run_cell(task, task.record(), trials=tmp_path)
    timeless = {"seconds", "peak_memory_mb", "finished"}
    assert again.model_dump(exclude=timeless) == record.model_dump(exclude=timeless)
    assert np.array_equal(other.order, arrays.order)
    assert np.array_equal(other.proba, arrays.proba)


def test_seeds_and_folds_give_the_method_different_seeds():
    seeds = {task_of("wine", fold=f, seed=s).seed for f in range(5) for s in range(3)}
    assert seeds == {1000 * s + f for f in range(5) for s in range(3)}


@st.composite
def trajectories(draw):
    """Probabilities, many of which half precision cannot tell apart."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    c = draw(st.integers(2, 5))
    near = 1 + rng.choice([0.0, 1e-7, 1e-5, 1e-3, 1.0]) * rng.random((8, 3, c))
    return near / near.sum(2, keepdims=True)


@settings(max_examples=100, deadline=None)
@given(trajectories())
def test_rounding_keeps_the_predicted_class(proba):
    rounded = half(proba)
    assert rounded.dtype == np.float16
    assert np.array_equal(rounded.argmax(2), proba.argmax(2))
    assert np.abs(rounded - proba).max() < 1e-3


def test_folds_part_the_kept_rows_and_are_the_same_for_all():
    labels = np.random.default_rng(1).integers(0, 3, 200)
    rows = kept_rows(labels, 100)
    tests = []
    for fold in range(4):
        train, test = fold_rows(labels, rows, 4, fold)
        assert np.array_equal(np.union1d(train, test), rows)
        assert len(np.intersect1d(train, test)) == 0
        tests.append(test)
    assert np.array_equal(np.sort(np.concatenate(tests)), rows)


def test_a_rare_class_makes_no_noise():
    labels = np.array([0] * 20 + [1] * 20 + [2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fold_rows(labels, np.arange(41), 5, 0)


def test_a_class_that_training_lacked_has_no_probability():
    proba = np.full((2, 3, 2), 0.5)
    full = all_classes(proba, np.array([0, 2]), 3)
    assert full.shape == (2, 3, 3)
    assert (full[:, :, 1] == 0).all()
    assert (full[:, :, [0, 2]] == 0.5).all()
