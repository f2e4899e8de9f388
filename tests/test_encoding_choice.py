"""How many quantile columns a number gets is decided on validation rows."""

import math

import numpy as np
import pandas as pd
import pytest

from hyperdfs import HyperDFSClassifier, fitting
from hyperdfs.encoding_choice import (
    EARLY,
    MANY_BINS,
    MANY_INPUTS,
    TRIAL_EPOCHS,
    TRIAL_GAIN,
    coarsest_good,
)

CLEAR, SLIGHT = 1.0 - 2.0 * TRIAL_GAIN, 1.0 - 0.5 * TRIAL_GAIN


@pytest.mark.parametrize(
    ("losses", "chosen"),
    [
        ([1.0, 1.0, 1.0], 0),
        ([1.0, CLEAR, CLEAR], 1),
        ([1.0, CLEAR, CLEAR * CLEAR], 2),
        ([1.0, SLIGHT, CLEAR], 2),
        ([1.0, CLEAR, CLEAR * SLIGHT], 1),
        ([1.0, SLIGHT, SLIGHT], 0),
        ([1.0, 2.0, math.nan], 0),
    ],
)
def test_more_columns_must_be_clearly_better(losses, chosen):
    steps = []
    found = coarsest_good(
        range(3), lambda i, give_up: [losses[i]], lambda *step: steps.append(step)
    )
    assert found == chosen
    assert [done for _, done, _ in steps] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("behind_at_first", "epochs"),
    [(False, TRIAL_EPOCHS), (True, EARLY)],
)
def test_a_trial_is_given_up_early_unless_it_leads(behind_at_first, epochs):
    """Two candidates end alike; the second is worth its columns if it led from the start."""
    falling = [2.0 - epoch / TRIAL_EPOCHS for epoch in range(TRIAL_EPOCHS)]
    lead = [0.9 * loss for loss in falling]
    late = [2.0] * EARLY + lead[EARLY:]
    candidates = [falling, late if behind_at_first else lead]
    seen = []

    def trial(losses, give_up):
        seen.append(0)
        for epoch in range(1, TRIAL_EPOCHS + 1):
            seen[-1] = epoch
            if give_up(losses[:epoch]):
                break
        return losses[: seen[-1]]

    assert coarsest_good(candidates, trial, lambda *_: None) == (0 if behind_at_first else 1)
    assert seen == [TRIAL_EPOCHS, epochs]


@pytest.mark.parametrize(("bend", "straight"), [(lambda x: 3.0 * x, True), (np.cos, False)])
def test_a_line_needs_one_column_and_a_wave_needs_more(bend, straight):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-6.0, 6.0, (2000, 2)), columns=["a", "b"])
    y = rng.random(len(X)) < 1.0 / (1.0 + np.exp(-4.0 * bend(X["a"])))
    quick = {"stage1_epochs": 1, "stage2_epochs": 1, "teacher_weight": 0.0}
    clf = HyperDFSClassifier(config=quick).fit(X, y)
    assert (clf._state.shape.n_columns == 2) == straight


def test_fine_bins_are_tried_where_rows_abound_and_embedded_wider(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((3000, 2)), columns=["a", "b"])
    stripes = np.floor(30 * X["a"]) % 2  # too narrow for the bins of most tables
    y = np.where(rng.random(len(X)) < 0.05, 1 - stripes, stripes)
    quick = {"stage1_epochs": 1, "stage2_epochs": 1, "teacher_weight": 0.0, "rollout_steps": 0}
    monkeypatch.setattr(fitting, "ROWS_FOR_MANY", len(X) // 2)
    clf = HyperDFSClassifier(config=quick).fit(X, y)
    assert clf._state.shape.n_columns == 2 * (MANY_BINS + 1)
    assert clf.config_.embed_dim == MANY_INPUTS
