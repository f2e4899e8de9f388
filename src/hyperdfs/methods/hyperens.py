"""Hyper-DFS and HyperEns: one predictor or several, trained together or one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from hyperdfs.methods.base import Job, Method, Model
from hyperdfs.methods.hyper import WIDE, build, build_random, fit_random, fit_together
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.training.data import Rows

FEW = 200  # validation rows: with fewer, the best epoch depends on which rows they are


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    """Members of a large table differ by their weights at the start, and are trained together.

    Those of a small one differ more: each is judged by validation rows of its own, which the
    others learn from, and has teachers of its own. A wide table would take too long.
    """
    small = len(valid) < FEW and job.shape.n_features <= WIDE
    if job.members > 1 and small and job.another_cut is not None:
        return _one_by_one(job, train, valid)
    return fit_together(job, train, valid)


def _one_by_one(job: Job, train: Rows, valid: Rows) -> Model:
    """The first member learns with the selector; the others learn what that selector buys."""
    first = fit_together(_member(job, 0, job.seed), train, valid)
    selector = first.modules["selector"]
    assert isinstance(selector, ScoreNet)
    assert job.another_cut is not None
    models = [first]
    for number in range(1, job.members):
        seed = int(np.random.SeedSequence([job.seed, number]).generate_state(1)[0])
        rows = job.another_cut(seed)
        models.append(fit_together(_member(job, number, seed), *rows, policy=selector))
    model = job.untrained(build)
    states = [one.modules["predictor"].state_dict() for one in models]
    model.modules["predictor"].load_state_dict(
        {name: torch.cat([state[name] for state in states]) for name in states[0]}
    )
    model.modules["selector"].load_state_dict(selector.state_dict())
    model.history = [
        {"member": number, **row} for number, one in enumerate(models) for row in one.history
    ]
    return model


def _member(job: Job, number: int, seed: int) -> Job:
    """The job of one member, whose progress adds up to that of all."""

    def progress(stage: str, done: int, total: int) -> None:
        job.progress(stage, number * total + done, job.members * total)

    return replace(job, members=1, seed=seed, progress=progress)


HYPER_METHODS = [
    Method("hyperdfs", "Hyper-DFS: hypernetwork predictor, learned selector", build, fit),
    Method("hyperens", "HyperEns: five Hyper-DFS predictors, one selector", build, fit, 5),
    Method(
        "random",
        "Hyper-DFS's predictor under a random order",
        build_random,
        fit_random,
        family="control",
    ),
]
