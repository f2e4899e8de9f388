"""What a method is to the rest of the library: something that builds and fits a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from hyperdfs.acquisition import Predictor, Selector
from hyperdfs.config import PRESETS, HyperConfig, TableConfig, make_config
from hyperdfs.masks import ColumnMap, Draw, MaskSampler, cardinality_uniform
from hyperdfs.preprocess import Preprocessor
from hyperdfs.training.data import Rows
from hyperdfs.training.loop import History, Progress


@dataclass(frozen=True)
class Shape:
    """Everything about the data that decides the shape of the networks."""

    column_group: tuple[int, ...]
    n_features: int
    n_classes: int
    pixels: bool = False

    @property
    def n_columns(self) -> int:
        return len(self.column_group)

    def columns(self) -> ColumnMap:
        return ColumnMap(np.asarray(self.column_group), self.n_features)


@dataclass
class Model:
    """A predictor and a selector; `modules` holds their weights under stable names."""

    predictor: Predictor
    selector: Selector
    modules: dict[str, nn.Module]
    history: History = field(default_factory=list)

    def parameters(self) -> int:
        return sum(p.numel() for module in self.modules.values() for p in module.parameters())

    @property
    def device(self) -> torch.device:
        """Where the weights are; the processor for a model that has none."""
        for module in self.modules.values():
            for tensor in (*module.parameters(), *module.buffers()):
                return tensor.device
        return torch.device("cpu")

    def to(self, device: torch.device) -> Model:
        for module in self.modules.values():
            module.to(device)
        return self


Build = Callable[[Shape, Any, int], Model]  # configuration, members


@dataclass(frozen=True)
class Job:
    """What a fit is given besides the rows; `config` is of the method's own kind."""

    shape: Shape
    config: Any
    members: int
    max_budget: int
    costs: np.ndarray
    seed: int
    device: torch.device
    progress: Progress
    held_out: np.ndarray | None = None
    preprocessor: Preprocessor | None = None  # of the rows, for a method that asks about raw values
    give_up: Callable[[History], bool] = lambda history: False  # asked after epochs of stage 1
    # seed -> the same rows with others of them for validation, taught by teachers of their own
    another_cut: Callable[[int], tuple[Rows, Rows]] | None = None

    def generator(self) -> torch.Generator:
        """Random numbers of this fit, from its seed."""
        return torch.Generator().manual_seed(self.seed)

    def sampler(self, generator: torch.Generator, draw: Draw = cardinality_uniform) -> MaskSampler:
        """Random subsets to train on, never one that is withheld."""
        return MaskSampler(self.shape.n_features, generator, held_out=self.held_out, draw=draw)

    def untrained(self, build: Build) -> Model:
        """A model whose weights follow from the seed; torch's own generator stays as it was."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return build(self.shape, self.config, self.members).to(self.device)


Family = Literal["ours", "single model", "multi-model", "control"]


@dataclass(frozen=True)
class Method:
    """A named composition of predictor, selector and training recipe.

    build : (shape, config, members) -> the untrained model, whose modules a saved file fills.
    config, presets : its own kind of configuration and the named settings of it.
    ranked : False for a reference that is no competitor, such as one that sees the whole row.
    needs_generator : True for a reference that knows how the data were made. It is for synthetic
        data only, and the field `dataset` of its configuration says which.
    """

    name: str
    title: str
    build: Build
    fit: Callable[[Job, Rows, Rows], Model]
    members: int = 1
    config: type[TableConfig] = HyperConfig
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: PRESETS)
    family: Family = "ours"
    ranked: bool = True
    needs_generator: bool = False

    def configure(self, preset: str, overrides: Mapping[str, Any] | None = None) -> TableConfig:
        """The named preset with single fields replaced."""
        return make_config(preset, overrides, kind=self.config, presets=self.presets)
