"""Which columns a number becomes: candidates, and the trial that decides between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch

from hyperdfs.config import HyperConfig, TableConfig
from hyperdfs.features import FeatureSpace
from hyperdfs.methods.base import Job, Shape
from hyperdfs.preprocess import Encoded, Preprocessor
from hyperdfs.training.data import Rows, make_rows
from hyperdfs.training.loop import Progress
from hyperdfs.training.targets import Target

FEWEST_FOR_TRIAL = 200  # validation rows that can tell encodings apart
FEW_BINS = 3  # where they cannot: enough to bend, too few to learn by heart
MANY_BINS, ROWS_FOR_MANY = 96, 10_000  # as fine as trees cut: places on a map, prices
MANY_INPUTS = 24  # per feature, of the networks that embed so many columns
TRIAL_EPOCHS = 24  # fewer favour quantile columns, which learn faster and end up no better
EARLY = 12  # epochs after which one that does not lead is given up
TRIAL_GAIN = 0.01  # more columns must lower the loss by this share to be worth their weights

GiveUp = Callable[[Sequence[float]], bool]  # given the losses so far


@dataclass(frozen=True)
class Encoding:
    """A fitted preprocessor and what it makes of the training table."""

    preprocessor: Preprocessor
    encoded: Encoded
    shape: Shape

    def rows(
        self, index: np.ndarray, target: Target, weight: np.ndarray, device: torch.device
    ) -> Rows:
        values, observed = (array[index] for array in self.encoded)
        columns = self.shape.columns()
        return make_rows(
            values, observed, target.mixed, weight[index], columns, device, target.taught
        )


def encode(
    table: pd.DataFrame, space: FeatureSpace, n_classes: int, style: str, n_bins: int | None
) -> Encoding:
    straight = style == "paper" and n_bins == 0  # it has no other form
    preprocessor = Preprocessor(style=style, n_bins=None if straight else n_bins)
    encoded = preprocessor.fit_transform(table, space)
    group = tuple(int(g) for g in preprocessor.column_group)
    shape = Shape(group, len(space), n_classes, pixels=space.kind == "pixels")
    return Encoding(preprocessor, encoded, shape)


def coarsest_good(
    encodings: Sequence[Encoding],
    trial: Callable[[Encoding, GiveUp], Sequence[float]],
    progress: Progress,
) -> int:
    """Of encodings with ever more columns, the finest that is clearly better than those before.

    trial : the validation losses of an encoding, epoch by epoch, until it is told to give up.
    """
    chosen, best = 0, [math.inf]
    for i, candidate in enumerate(encodings):
        progress("encoding", i, len(encodings))
        losses = trial(candidate, partial(_behind, best))
        if min(losses) < (1.0 - TRIAL_GAIN) * min(best):
            chosen, best = i, list(losses)
    progress("encoding", len(encodings), len(encodings))
    return chosen


def _behind(best: Sequence[float], losses: Sequence[float]) -> bool:
    """Whether more columns do not lead by then, though they learn faster than fewer."""
    return len(losses) == EARLY and min(losses) >= min(best[:EARLY])


def suited(config: TableConfig, encoding: Encoding) -> TableConfig:
    """A candidate of many columns needs wider embeddings: what it tells apart must pass them."""
    embeds = isinstance(config, HyperConfig) and config.embed_dim
    if not embeds or encoding.preprocessor.n_bins != MANY_BINS:
        return config
    return config.model_copy(update={"embed_dim": max(embeds, MANY_INPUTS)})


def trial_config(config: TableConfig) -> HyperConfig:
    """A short stage 1 of Hyper-DFS, whatever the method: all methods get the same columns."""
    if not isinstance(config, HyperConfig):
        config = HyperConfig(**config.model_dump(include=set(TableConfig.model_fields)))
    return config.model_copy(update={"stage1_epochs": TRIAL_EPOCHS, "scale_weight": 0.0})


def trial_inputs(
    encodings: Sequence[Encoding], job: Job, arrays: Sequence[np.ndarray]
) -> Iterator[bytes]:
    """All that the outcome of the trial depends on."""
    from hyperdfs import __version__

    settings = (job.config.model_dump_json(), job.max_budget, job.seed, job.device.type)
    rule = (TRIAL_GAIN, EARLY, MANY_INPUTS)
    yield repr((*settings, *rule, __version__, str(torch.__version__))).encode()
    shown = [array for encoding in encodings for array in encoding.encoded]
    held_out = np.empty(0) if job.held_out is None else job.held_out
    for array in (*arrays, *shown, job.costs, held_out):
        yield repr((array.shape, array.dtype.str)).encode()
        yield np.ascontiguousarray(array).tobytes()
