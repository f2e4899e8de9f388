"""What a fit learns from: training rows, validation rows, and what is to be learnt of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from sklearn.model_selection import train_test_split

from hyperdfs.config import TableConfig
from hyperdfs.encoding_choice import Encoding
from hyperdfs.training.data import Rows
from hyperdfs.training.loop import Progress
from hyperdfs.training.targets import Target, make_targets

FEWEST_FOR_SPLIT = 30  # below, the training rows also serve as validation rows


@dataclass(frozen=True)
class Material:
    """All rows of a fit, as teachers see them."""

    readings: np.ndarray  # numbers and category codes, for trees
    columns: np.ndarray  # scaled numbers and one-hot categories, for linear models
    labels: np.ndarray
    weight: np.ndarray  # with mean 1
    emphasis: np.ndarray  # of the classes, (C,)


@dataclass(frozen=True)
class Lesson:
    """One cut of the rows into those to learn from and those to judge by, with their targets."""

    train: np.ndarray
    train_target: Target
    valid: np.ndarray
    valid_target: Target
    weight: np.ndarray  # of all rows, class emphasis included

    def rows(self, encoding: Encoding, device: torch.device) -> tuple[Rows, Rows]:
        """Training and validation rows."""
        return (
            encoding.rows(self.train, self.train_target, self.weight, device),
            encoding.rows(self.valid, self.valid_target, self.weight, device),
        )

    def arrays(self) -> tuple[np.ndarray, ...]:
        """All that a fit on this lesson depends on, besides the encoded table."""
        mixed = self.train_target.mixed, self.valid_target.mixed
        return self.train, mixed[0], self.valid, mixed[1], self.weight


def make_lesson(
    table: Material, config: TableConfig, *, pixels: bool, seed: int, progress: Progress
) -> Lesson:
    """Cut the table and ask teachers, who see no label of the validation rows."""
    train, valid = split_rows(table.labels, config.validation_fraction, seed)
    unseen = np.setdiff1d(valid, train)  # none in a table too small for a split
    shown = np.concatenate([train, unseen])
    train_target, taught = make_targets(
        table.readings[shown],
        table.columns[shown],
        table.labels[train],
        table.weight[train],
        table.emphasis,
        share=0.0 if pixels else config.teacher_weight,  # trees see little in pixels
        seed=seed,
        progress=progress,
    )
    one_hot = np.eye(len(table.emphasis))[table.labels[valid]]
    valid_target = Target(one_hot, taught if len(unseen) else None)
    weight = table.weight * table.emphasis[table.labels]
    return Lesson(train, train_target, valid, valid_target, weight)


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
