"""Training in rounds that differ in one number, such as a temperature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from hyperdfs.training.data import Rows
from hyperdfs.training.loop import History, Progress
from hyperdfs.training.masked import Recipe, Validate, fit_masked


def fit_rounds(
    module: nn.Module,
    train: Rows,
    loss: Callable[[Rows, float], Tensor],
    numbers: Sequence[float],
    validate: Validate,
    recipe: Recipe,
    *,
    stage: str,
    generator: torch.Generator,
    progress: Progress,
) -> History:
    """One round of ``loss(batch, number)`` per number, each from the best weights so far."""

    def of_batch(number: float, batch: Rows, epoch: int) -> Tensor:
        return loss(batch, number)

    history: History = []
    for count, number in enumerate(numbers, 1):
        history += fit_masked(
            module,
            train,
            partial(of_batch, number),
            validate,
            recipe,
            stage=f"{stage} {count}/{len(numbers)}",
            generator=generator,
            progress=progress,
            keep_start=count > 1,
        )
    return history
