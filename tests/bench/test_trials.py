"""Methods of one fold share the trial of encodings; nothing but the time may show it."""

from __future__ import annotations

import numpy as np
import pytest

from bench_cells import task_of
from hyperdfs import encoding_choice, fitting
from hyperdfs.bench.cells import read_arrays
from hyperdfs.bench.work import TRIALS, work_on
from small_tables import TINY

OPEN = {**TINY, "n_bins": None}


@pytest.fixture(autouse=True)
def trial_on_few_rows(monkeypatch):
    monkeypatch.setattr(fitting, "FEWEST_FOR_TRIAL", 5)
    monkeypatch.setattr(encoding_choice, "TRIAL_EPOCHS", 2)


def trials(root):
    return len(list((root / TRIALS).glob("*.json")))


def test_a_shared_trial_changes_no_result(tmp_path):
    first, second = (task_of(label=label, overrides=OPEN) for label in ("one", "two"))
    decided, recalled = work_on(first, root=tmp_path), work_on(second, root=tmp_path)
    assert trials(tmp_path) == 1
    assert decided.seconds.recalled_wall == 0.0
    assert recalled.seconds.recalled_wall > 0.0
    assert recalled.seconds.fit_cpu > recalled.seconds.recalled_cpu > 0.0
    assert recalled.seconds.total_wall > recalled.seconds.fit_wall
    assert recalled.auac == decided.auac
    one, two = (read_arrays(tmp_path / task.key.path()) for task in (first, second))
    assert np.array_equal(one.proba, two.proba)
    assert np.array_equal(one.order, two.order)


@pytest.mark.parametrize(
    "change",
    [
        {"fold": 1},
        {"seed": 1},
        {"overrides": {**OPEN, "stage1_lr": 0.02}},
        {"overrides": {**OPEN, "class_weight": None}},
    ],
)
def test_another_fold_seed_or_setting_has_its_own_trial(tmp_path, change):
    work_on(task_of(overrides=OPEN), root=tmp_path)
    record = work_on(task_of(**{"label": "other", "overrides": OPEN, **change}), root=tmp_path)
    assert record.status == "done"
    assert record.seconds.recalled_wall == 0.0
    assert trials(tmp_path) == 2


def test_methods_of_other_kinds_share_it(tmp_path):
    methods = ("static_mlp", "random_mlp")
    tasks = [task_of(label=name, method=name, overrides={"epochs": 2}) for name in methods]
    records = [work_on(task, root=tmp_path) for task in tasks]
    assert [record.status for record in records] == ["done", "done"]
    assert trials(tmp_path) == 1
