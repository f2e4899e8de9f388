"""From a table to a fitted model: split, encode, teach, train."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split

from hyperdfs.config import HyperConfig
from hyperdfs.errors import InputError
from hyperdfs.features import FeatureSpace
from hyperdfs.methods import Model, Shape, get_method
from hyperdfs.methods.base import Job
from hyperdfs.preprocess import Encoded, Preprocessor
from hyperdfs.training.data import Rows, make_rows
from hyperdfs.training.loop import Progress
from hyperdfs.training.teacher import cross_fitted

FEWEST_FOR_SPLIT = 30  # below, the training rows also serve as validation rows
LARGEST = 1e30  # well inside float32
TYPICAL = 5  # example results kept per feature, to foresee what a purchase may change


@dataclass
class FittedState:
    """Everything a fitted classifier knows; what a bundle stores."""

    input_columns: tuple[Hashable, ...]  # of the training table, in its order
    preprocessor: Preprocessor
    shape: Shape
    config: HyperConfig
    members: int
    model: Model
    typical: np.ndarray  # (TYPICAL, D) encoded example results, feature by feature


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


def split_rows(labels: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Stratified training and validation rows. Classes with one row stay in the training part."""
    everything = np.arange(len(labels))
    if len(labels) < FEWEST_FOR_SPLIT:
        return everything, everything
    counts = np.bincount(labels)
    splittable = everything[counts[labels] >= 2]
    size = max(round(fraction * len(labels)), int((counts >= 2).sum()))
    if len(splittable) <= 2 * size:
        return everything, everything
    _, valid = train_test_split(
        splittable, test_size=size, stratify=labels[splittable], random_state=seed
    )
    return np.setdiff1d(everything, valid), np.sort(valid)


def fit_state(
    table: pd.DataFrame,
    labels: np.ndarray,
    weight: np.ndarray,
    space: FeatureSpace,
    *,
    n_classes: int,
    method: str,
    config: HyperConfig,
    members: int,
    max_budget: int,
    device: torch.device,
    seed: int,
    progress: Progress,
    held_out: np.ndarray | None = None,
) -> FittedState:
    """Fit preprocessor and method. Every row given here is a training row."""
    preprocessor = Preprocessor(style=config.preprocessing, n_bins=config.n_bins)
    encoded = preprocessor.fit_transform(table, space)
    shape = Shape(
        tuple(int(g) for g in preprocessor.column_group),
        len(space),
        n_classes,
        pixels=space.kind == "pixels",
    )
    if config.class_weight == "balanced":
        weight = weight / np.bincount(labels, weights=weight, minlength=n_classes)[labels]
    weight = weight / weight.mean()  # the teacher's regularisation counts in rows
    train_index, valid_index = split_rows(labels, config.validation_fraction, seed)
    target = np.eye(n_classes)
    train_target = target[labels[train_index]]
    if config.teacher_weight:
        progress("teacher", 0, 1)
        taught = cross_fitted(
            # Trees order values and hold them in float32.
            np.clip(preprocessor.readings(table)[train_index], -LARGEST, LARGEST),
            labels[train_index],
            weight[train_index],
            n_classes,
            seed=seed,
        )
        if taught is not None:
            share = config.teacher_weight
            train_target = (1.0 - share) * train_target + share * taught
        progress("teacher", 1, 1)

    def rows(index: np.ndarray, targets: np.ndarray) -> Rows:
        return make_rows(
            encoded.values[index],
            encoded.observed[index],
            targets,
            weight[index],
            shape.columns(),
            device,
        )

    job = Job(
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
    model = get_method(method).fit(
        job, rows(train_index, train_target), rows(valid_index, target[labels[valid_index]])
    )
    return FittedState(
        input_columns=tuple(table.columns),
        preprocessor=preprocessor,
        shape=shape,
        config=config,
        members=members,
        model=model,
        typical=typical_results(encoded, preprocessor),
    )


def typical_results(encoded: Encoded, preprocessor: Preprocessor) -> np.ndarray:
    """For each feature a few results as they occur in training, spread over its range."""
    typical = np.zeros((TYPICAL, preprocessor.n_columns), np.float32)
    for feature in range(preprocessor.n_features):
        columns = preprocessor.columns_of(feature)
        seen = encoded.values[encoded.observed[:, feature], columns]
        rank = np.argsort(seen[:, 0], kind="stable")
        at = np.linspace(0.1, 0.9, TYPICAL) * (len(seen) - 1)
        typical[:, columns] = seen[rank[np.round(at).astype(int)]]
    return typical
