"""The reference that is shown everything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from bench_cells import task_of
from hyperdfs import DFSClassifier, load
from hyperdfs.bench.work import work_on
from hyperdfs.predictors.whole_row import WholeRowPredictor
from small_tables import mixed

QUICK = {"hidden": (16,), "epochs": 20, "lr": 1e-2, "n_bins": 0, "rounds": 30}


@pytest.mark.parametrize("late", [True, False])
def test_it_sees_what_is_not_bought(late: bool) -> None:
    """One column tells the class; the last is never bought, and yet known from the beginning."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(400, 3)), columns=list("abc"))
    y = (X["c" if late else "a"] > 0).to_numpy()
    clf = DFSClassifier("full", max_budget=2, config=QUICK).fit(X, y)
    bought = clf.acquire(X, budget=2)
    assert (bought.order == [0, 1]).all()
    for step in range(3):
        assert ((bought.proba[:, step].argmax(1) == 1) == y).mean() > 0.95
    np.testing.assert_allclose(bought.proba[:, 0], clf.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_share_of_the_trees(share: float) -> None:
    X, y = mixed()
    clf = DFSClassifier("full", config=QUICK).fit(X, y)
    model = clf._state.model
    model.modules["fitted"].get("share").fill_(share)  # type: ignore[operator]
    known = [torch.as_tensor(part).float() for part in clf._state.preprocessor.transform(X)]
    predictor = model.predictor
    assert isinstance(predictor, WholeRowPredictor)
    net, trees = predictor.net.proba(*known), predictor.trees.proba(*known)
    assert not torch.allclose(net, trees)
    assert torch.allclose(predictor.proba(*known), (1.0 - share) * net + share * trees)


def test_missing_cells_text_groups_and_a_saved_file(tmp_path: Path) -> None:
    X, y = mixed()
    groups = {"body": ["age", "height"]}
    clf = DFSClassifier("full", max_budget=3, groups=groups, config=QUICK).fit(X, y)
    proba = clf.acquire(X, 3).proba
    assert (proba == proba[:, :1]).all()
    clf.save(tmp_path / "full.hdfs")
    assert np.array_equal(load(tmp_path / "full.hdfs").acquire(X, 3).proba, proba)


def test_in_the_benchmark_it_is_a_reference(tmp_path: Path) -> None:
    record = work_on(task_of(method="full", label="full", overrides=QUICK), root=tmp_path)
    assert record.status == "done"
    assert record.ranked is False
    assert "leak" not in record.checks
    assert "prediction" not in record.checks
    assert len(set(record.curves["f1_macro"])) == 1
    assert record.auac > 0.9
