"""What ensemble, cardinality and mixture of experts share: the subsets that predictors see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from hyperdfs.masks import ColumnMap
from hyperdfs.methods import Shape, get_method
from hyperdfs.methods.base import Job
from hyperdfs.methods.multimodel import fit_net
from hyperdfs.training.data import make_rows

TINY = {"hidden": (8,), "predictor_hidden": (8,), "predictor_epochs": 20}
N_FEATURES, BUDGET = 12, 2


def sizes_seen(name: str, preset: str) -> Tensor:
    """How many features each row knew, in one predictor's training on random subsets."""
    rng = np.random.default_rng(0)
    values, target = rng.normal(size=(60, N_FEATURES)), np.eye(2)[rng.integers(0, 2, 60)]
    columns = ColumnMap(np.arange(N_FEATURES), N_FEATURES)
    rows = make_rows(values, np.ones_like(values, bool), target, np.ones(60), columns)
    method = get_method(name)
    job = Job(
        shape=Shape(tuple(range(N_FEATURES)), N_FEATURES, 2),
        config=method.configure(preset, TINY),
        members=1,
        max_budget=BUDGET,
        costs=np.ones(N_FEATURES),
        seed=0,
        device=torch.device("cpu"),
        progress=lambda *_: None,
    )
    net = next(job.untrained(method.build).modules["predictor"].children())
    seen: list[Tensor] = []

    def note(_: Any, inputs: tuple[Tensor, Tensor]) -> None:
        if net.training:
            seen.append(inputs[1].sum(1))

    net.register_forward_pre_hook(note)
    fit_net(net, 0, job, rows, rows)
    return torch.cat(seen)


@pytest.mark.parametrize("name", ["ensemble", "cardinality", "moe"])
def test_subsets_of_the_presets(name: str) -> None:
    """The authors' have every size from 1 on equally often, ours mostly what a budget buys."""
    authors, ours = sizes_seen(name, "authors"), sizes_seen(name, "default")
    shares = torch.bincount(authors.long(), minlength=N_FEATURES + 1) / len(authors)
    assert shares[0] == 0
    torch.testing.assert_close(
        shares[1:], torch.full((N_FEATURES,), 1 / N_FEATURES), atol=0.04, rtol=0
    )
    assert (ours == 0).any()
    assert (ours <= BUDGET).float().mean() > 0.5
