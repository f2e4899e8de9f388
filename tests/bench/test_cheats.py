"""Methods that cheat do not get a score: each safety net of a cell catches its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bench_cells import task_of
from hyperdfs.bench import protocol
from hyperdfs.bench.cells import read_arrays, read_record
from hyperdfs.bench.protocol import make_classifier
from hyperdfs.bench.work import work_on
from hyperdfs.datasets import load_dataset


class Cheat:
    """An honest classifier whose purchases are tampered with."""

    def __init__(self, honest, tamper):
        self.honest, self.tamper = honest, tamper

    def fit(self, X, y):
        self.honest.fit(X, y)
        return self

    def acquire(self, X, budget, **start):
        return self.tamper(X, self.honest.acquire(X, budget, **start))

    def __getattr__(self, name):
        return getattr(self.honest, name)


def cheating(tamper):
    return lambda task, data: Cheat(make_classifier(task, data), tamper)


def peeks_when_predicting(X, bought):
    """Shifts the probabilities by a value that was perhaps never bought."""
    shift = 0.1 * (X.iloc[:, 0].to_numpy() > X.iloc[:, 0].median())[:, None, None]
    proba = (bought.proba + shift) / (1 + shift * bought.proba.shape[2])
    return replace(bought, proba=proba)


def buys_twice(X, bought):
    order = bought.order.copy()
    order[3, 4] = order[3, 0]
    return replace(bought, order=order)


def stops_early(X, bought):
    order = bought.order.copy()
    order[:, -1] = -1
    return replace(bought, order=order)


def buys_more(X, bought):
    extra = np.array([np.setdiff1d(np.arange(13), row)[:1] for row in bought.order])
    proba = np.concatenate([bought.proba, bought.proba[:, -1:]], axis=1)
    return replace(bought, order=np.hstack([bought.order, extra]), proba=proba)


def predicts_nonsense(X, bought):
    return replace(bought, proba=bought.proba * 2)


@pytest.mark.parametrize(
    ("tamper", "net", "sentence"),
    [
        (peeks_when_predicting, "prediction", "A scored prediction must be the one from the"),
        (buys_twice, "no_repeat", "No feature may be bought twice, but test row 3"),
        (stops_early, "exact_budget", "Exactly b features must be bought at budget b"),
        (buys_more, "exact_budget", "at 10 it were 11"),
        (predicts_nonsense, "probabilities", "Class probabilities must be"),
    ],
)
def test_a_cheat_fails_its_cell_by_name(tmp_path: Path, tamper, net, sentence):
    task = task_of()
    record = work_on(task, root=tmp_path, make=cheating(tamper))
    assert record.status == "failed"
    assert record.auac is None
    assert sentence in str(record.error)
    assert record.checks[net] is False
    assert read_record(tmp_path / task.key.path()) == record


def test_a_choice_by_values_that_nobody_bought_is_caught(tmp_path: Path):
    class ByValue:
        """Buys the features of a row by their values, the largest first."""

        def __init__(self, X):
            self.values = torch.tensor(X.to_numpy(), dtype=torch.float32)

        def scores(self, x, mask):
            return self.values

    class Chooser(Cheat):
        def acquire(self, X, budget, **start):
            return self.honest.acquire(X, budget, selector=ByValue(X), **start)

    record = work_on(task_of(), root=tmp_path, make=lambda *at: Chooser(make_classifier(*at), None))
    assert record.checks["leak"] is False
    assert "The next purchase must not depend on values" in str(record.error)


def test_row_numbers_tell_nothing(tmp_path: Path):
    """Wine is sorted by class: a method that looks labels up by row number gains nothing."""
    seen = []

    def look(X, bought):
        seen.append(X.index.tolist())
        return bought

    record = work_on(task_of(), root=tmp_path, make=cheating(look))
    assert record.status == "done", record.error
    assert seen[0] == list(range(record.n_test))


def test_a_split_that_lets_test_rows_into_the_fit_is_caught(tmp_path: Path, monkeypatch):
    def sloppy(labels, rows, n_folds, fold):
        return rows, rows[::5]

    monkeypatch.setattr(protocol, "fold_rows", sloppy)
    record = work_on(task_of(), root=tmp_path)
    assert record.checks == {"split": False}
    assert "A test row must not reach the fit" in str(record.error)


def test_the_fit_sees_the_training_rows_and_nothing_else(tmp_path: Path):
    seen = []

    class Watched(Cheat):
        def fit(self, X, y):
            seen.append((X.index.to_numpy(), y))
            return super().fit(X, y)

    def make(task, data):
        return Watched(make_classifier(task, data), lambda X, bought: bought)

    task = task_of(fold=1)
    record = work_on(task, root=tmp_path, make=make)
    assert record.status == "done", record.error
    [(rows, labels)] = seen
    y = load_dataset("wine").y
    tested = read_arrays(tmp_path / task.key.path()).rows
    assert np.array_equal(rows, np.setdiff1d(np.arange(len(y)), tested))
    assert np.array_equal(labels, y[rows])
    assert len(rows) == record.n_train


def test_a_reference_that_says_it_peeks_is_not_held_to_the_leak_net(tmp_path: Path):
    class Declared(Cheat):
        def fit(self, X, y):
            super().fit(X, y)
            self._state.model.selector.peeks = True

    def make(task, data):
        return Declared(make_classifier(task, data), peeks_when_predicting)

    record = work_on(task_of(), root=tmp_path, make=make)
    assert record.status == "done", record.error
    assert "leak" not in record.checks


def test_an_honest_control_passes_every_net(tmp_path: Path):
    task = task_of(label="random", method="random")
    record = work_on(task, root=tmp_path)
    assert record.status == "done", record.error
    assert all(record.checks.values())
