"""How many quantile columns a number gets is decided on validation rows."""

import math

import numpy as np
import pandas as pd
import pytest

from hyperdfs import HyperDFSClassifier
from hyperdfs.encoding_choice import TRIAL_GAIN, coarsest_good

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
    found = coarsest_good(range(3), losses.__getitem__, lambda *step: steps.append(step))
    assert found == chosen
    assert [done for _, done, _ in steps] == [0, 1, 2, 3]


@pytest.mark.parametrize(("bend", "straight"), [(lambda x: 3.0 * x, True), (np.cos, False)])
def test_a_line_needs_one_column_and_a_wave_needs_more(bend, straight):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-6.0, 6.0, (2000, 2)), columns=["a", "b"])
    y = rng.random(len(X)) < 1.0 / (1.0 + np.exp(-4.0 * bend(X["a"])))
    quick = {"stage1_epochs": 1, "stage2_epochs": 1, "teacher_weight": 0.0}
    clf = HyperDFSClassifier(config=quick).fit(X, y)
    assert (clf._state.shape.n_columns == 2) == straight
