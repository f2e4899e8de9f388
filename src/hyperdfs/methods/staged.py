"""What GDFS and DIME share: a predictor on random subsets first, then rounds along trajectories."""

from __future__ import annotations

from typing import ClassVar

import torch
from pydantic import Field
from torch import nn

from hyperdfs.config import TableConfig
from hyperdfs.masks import MaskSampler, rate_uniform, sizes_up_to
from hyperdfs.methods.base import Job
from hyperdfs.training.data import Rows
from hyperdfs.training.loop import History
from hyperdfs.training.masked import Recipe, fit_masked_classifier


class StagedConfig(TableConfig):
    """Networks and training of both stages."""

    hidden: tuple[int, ...] = (128, 128)
    dropout: float = Field(0.3, ge=0, lt=1)
    small_subsets: bool = True  # half of the random subsets have at most B_max features
    predictor_epochs: int = Field(100, ge=1)
    round_epochs: int = Field(30, ge=1)  # most of one round
    lr: float = Field(1e-3, gt=0)
    min_lr: ClassVar[float] = 1e-6
    patience: int = Field(7, ge=1)
    weight_decay: float = Field(1e-4, ge=0)
    batch_size: int | None = Field(None, ge=1)

    def recipe(self, epochs: int) -> Recipe:
        return Recipe(
            epochs=epochs,
            lr=self.lr,
            batch_size=self.batch_size,
            patience=self.patience,
            weight_decay=self.weight_decay,
            schedule="plateau",
            min_lr=self.min_lr,
        )


def fit_predictor(
    net: nn.Module, job: Job, train: Rows, valid: Rows, generator: torch.Generator
) -> tuple[MaskSampler, History]:
    """The first stage; its sampler knows which subsets are withheld from the second too."""
    config: StagedConfig = job.config
    draw = sizes_up_to(job.max_budget) if config.small_subsets else rate_uniform
    sampler = job.sampler(generator, draw)
    history = fit_masked_classifier(
        net,
        train,
        valid,
        sampler,
        config.recipe(config.predictor_epochs),
        generator=generator,
        progress=job.progress,
    )
    return sampler, history
