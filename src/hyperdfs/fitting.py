"""From a table to a fitted model: split, encode, teach, train."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import torch

from hyperdfs.config import TableConfig
from hyperdfs.encoding_choice import (
    FEW_BINS,
    FEWEST_FOR_TRIAL,
    MANY_BINS,
    ROWS_FOR_MANY,
    Encoding,
    GiveUp,
    coarsest_good,
    encode,
    suited,
    trial_config,
    trial_inputs,
)
from hyperdfs.errors import InputError, listing
from hyperdfs.features import FeatureSpace
from hyperdfs.lessons import Lesson, Material, make_lesson
from hyperdfs.methods import Model, Shape, get_method
from hyperdfs.methods.base import Job
from hyperdfs.preprocess import Encoded, Preprocessor
from hyperdfs.recall import decide
from hyperdfs.training.loop import History, Progress
from hyperdfs.training.targets import class_emphasis

TYPICAL = 5  # example results kept per feature, to foresee what a purchase may change


@dataclass
class FittedState:
    """Everything a fitted classifier knows; what a bundle stores."""

    input_columns: tuple[Hashable, ...]  # of the training table, in its order
    preprocessor: Preprocessor
    shape: Shape
    config: TableConfig
    members: int
    model: Model
    typical: np.ndarray  # (TYPICAL, D) encoded example results, feature by feature
    target: str | None = None  # the column of labels, where the table had one
    params: dict[str, Any] = field(default_factory=dict)  # of the estimator, as the fit found them


def pick_device(device: str) -> torch.device:
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError):
        raise InputError(f"device must be 'auto', 'cpu' or 'cuda', got {device!r}.") from None
    if chosen.type not in ("cpu", "cuda"):
        raise InputError(f"device must be 'auto', 'cpu' or 'cuda', got {device!r}.")
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device {device!r} is not available here; use 'auto' or 'cpu'.")
    return chosen


def fit_state(
    table: pd.DataFrame,
    labels: np.ndarray,
    weight: np.ndarray,
    space: FeatureSpace,
    *,
    n_classes: int,
    method: str,
    config: TableConfig,
    members: int,
    max_budget: int,
    device: torch.device,
    seed: int,
    progress: Progress,
    held_out: np.ndarray | None = None,
) -> FittedState:
    """Fit preprocessor and method. Every row given here is a training row."""
    encoding = encode(table, space, n_classes, config.preprocessing, config.n_bins)
    _tell_unlearnt(encoding.preprocessor)
    straight = encoding  # pixels and one-hot categories have no other form
    if config.n_bins != 0 and not encoding.shape.pixels:
        straight = encode(table, space, n_classes, config.preprocessing, 0)
    weight = weight / weight.mean()  # the teacher's regularisation counts in rows
    material = Material(
        readings=encoding.preprocessor.readings(table),
        columns=straight.encoded.values,
        labels=labels,
        weight=weight,
        emphasis=class_emphasis(labels, weight, n_classes, config.class_weight),
    )
    pixels = encoding.shape.pixels

    def lesson(seed: int) -> Lesson:
        return make_lesson(material, config, pixels=pixels, seed=seed, progress=progress)

    first = lesson(seed)

    def job(config: TableConfig, shape: Shape, members: int, progress: Progress) -> Job:
        return Job(
            shape=shape,
            config=config,
            members=members,
            max_budget=min(max_budget, len(space)),
            costs=space.costs,
            seed=seed,
            device=device,
            progress=progress,
            held_out=held_out,
        )

    def fit(method: str, job: Job, encoding: Encoding) -> Model:
        given = replace(
            job,
            preprocessor=encoding.preprocessor,
            another_cut=lambda seed: lesson(seed).rows(encoding, device),
        )
        return get_method(method).fit(given, *first.rows(encoding, device))

    def trial_job(candidate: Encoding) -> Job:
        settings = suited(trial_config(config), candidate)
        return job(settings, candidate.shape, 1, lambda *_: None)

    def trial(candidate: Encoding, give_up: GiveUp) -> list[float]:
        watched = replace(trial_job(candidate), give_up=lambda done: give_up(losses(done)))
        return losses(fit("random", watched, candidate).history)

    if config.n_bins is None and straight.shape.n_columns < encoding.shape.n_columns:
        few = encode(table, space, n_classes, config.preprocessing, FEW_BINS)
        if len(first.valid) < FEWEST_FOR_TRIAL:
            encoding = few
        else:
            candidates = [straight, few, encoding]
            if len(first.train) >= ROWS_FOR_MANY:
                many = encode(table, space, n_classes, config.preprocessing, MANY_BINS)
                candidates.append(many)
            chosen = decide(
                lambda: coarsest_good(candidates, trial, progress),
                depends_on=trial_inputs(candidates, trial_job(encoding), first.arrays()),
            )
            encoding = candidates[chosen]
            config = suited(config, encoding)
    model = fit(method, job(config, encoding.shape, members, progress), encoding)
    return FittedState(
        input_columns=tuple(table.columns),
        preprocessor=encoding.preprocessor,
        shape=encoding.shape,
        config=config,
        members=members,
        model=model,
        typical=typical_results(encoding.encoded, encoding.preprocessor),
    )


def _tell_unlearnt(preprocessor: Preprocessor) -> None:
    """Warn of columns without a value. A fold of a table cannot know that other rows have one."""
    empty = [row["name"] for row in preprocessor.describe() if row["kind"] == "empty"]
    if empty:
        warnings.warn(
            f"No training row has a value of {listing(empty)}: the model learns nothing about it "
            "and ignores later values; drop it if the whole table has none.",
            stacklevel=4,
        )


def losses(history: History) -> list[float]:
    """On validation rows, epoch by epoch."""
    return [float(row["valid_loss"]) for row in history]


def typical_results(encoded: Encoded, preprocessor: Preprocessor) -> np.ndarray:
    """For each feature a few results as they occur in training, spread over its range."""
    typical = np.zeros((TYPICAL, preprocessor.n_columns), np.float32)
    for feature in range(preprocessor.n_features):
        columns = preprocessor.columns_of(feature)
        seen = encoded.values[encoded.observed[:, feature], columns]
        if not len(seen):
            continue
        rank = np.argsort(seen[:, 0], kind="stable")
        at = np.linspace(0.1, 0.9, TYPICAL) * (len(seen) - 1)
        typical[:, columns] = seen[rank[np.round(at).astype(int)]]
    return typical
