"""Trees as arrays must equal scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperdfs.nn.trees import Forest
from hyperdfs.training.boosting import Growth, Table, booster_of, grow, shares


def noisy_table(n: int, n_classes: int, seed: int, missing: float) -> Table:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)).astype(np.float32)
    x[:, 3] = rng.integers(0, 3, n)  # ties on the thresholds
    labels = (np.abs(x[:, 0] + x[:, 3]).astype(int) + rng.integers(0, 2, n)) % n_classes
    x[rng.random(x.shape) < missing] = np.nan
    return Table(x, labels, rng.random(n) + 0.5)


@settings(max_examples=12, deadline=None)
@given(
    n=st.integers(30, 200),
    n_classes=st.integers(2, 5),
    seed=st.integers(0, 99),
    missing=st.sampled_from([0.0, 0.1, 0.7]),
)
def test_equal_to_scikit_learn(n: int, n_classes: int, seed: int, missing: float) -> None:
    table = noisy_table(n, n_classes, seed, missing)
    model = grow(table, Growth(rounds=7, leaves=6, smallest_leaf=3), seed)
    columns = np.array([5, 1, 0, 7])  # the model's inputs among eight encoded columns
    forest = Forest()
    forest.fill([shares(table, n_classes), booster_of(model, columns, n_classes)])
    fresh = noisy_table(60, n_classes, seed + 1, 0.3)
    wide = torch.full((60, 8), 9.0)
    wide[:, columns] = torch.from_numpy(fresh.x)
    expected = np.zeros((60, n_classes))
    expected[:, model.classes_] = model.predict_proba(fresh.x)
    assert np.abs(forest.proba(wide, 1).numpy() - expected).max() < 1e-6


def test_a_stored_forest_gives_the_same_answers() -> None:
    table = noisy_table(80, 3, 0, 0.2)
    columns = np.arange(4)
    forest, loaded = Forest(), Forest()
    models = [grow(table, Growth(rounds=r, smallest_leaf=3), 0) for r in (1, 5)]
    forest.fill([booster_of(model, columns, 3) for model in models])
    loaded.load_state_dict(forest.state_dict())
    x = torch.from_numpy(table.x)
    for number in (0, 1):
        assert torch.equal(loaded.proba(x, number), forest.proba(x, number))
    assert not torch.equal(forest.proba(x, 0), forest.proba(x, 1))
    assert forest.proba(x[:0], 1).shape == (0, 3)


def test_classes_that_the_rows_lack() -> None:
    table = noisy_table(80, 2, 0, 0.0)
    table = Table(table.x, table.labels * 2, table.weight)  # classes 0 and 2 of 4
    forest = Forest()
    model = grow(table, Growth(rounds=3), 0)
    forest.fill([booster_of(model, np.arange(4), 4)])
    proba = forest.proba(torch.from_numpy(table.x), 0)
    assert proba[:, [1, 3]].max() < 1e-7
    assert proba[:, [0, 2]].numpy() == pytest.approx(model.predict_proba(table.x), abs=1e-6)


def test_a_column_without_a_value_is_never_asked_about() -> None:
    table = noisy_table(80, 2, 0, 0.0)
    table.x[:, 0] = np.nan
    model = grow(table, Growth(rounds=5), 0)
    booster = booster_of(model, np.arange(4), 2)
    inner = [tree.feature[tree.left != torch.arange(len(tree.left))] for tree in booster.trees]
    assert not (torch.cat(inner) == 0).any()
