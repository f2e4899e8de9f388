"""What a method is to the rest of the library: something that builds and fits a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from hyperdfs.acquisition import Predictor, Selector
from hyperdfs.config import HyperConfig
from hyperdfs.masks import ColumnMap
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

    def to(self, device: torch.device) -> Model:
        for module in self.modules.values():
            module.to(device)
        return self


@dataclass(frozen=True)
class Job:
    """What a fit is given besides the rows."""

    shape: Shape
    config: HyperConfig
    members: int
    max_budget: int
    costs: np.ndarray
    seed: int
    device: torch.device
    progress: Progress
    held_out: np.ndarray | None = None


@dataclass(frozen=True)
class Method:
    """A named composition of predictor, selector and training recipe."""

    name: str
    title: str
    build: Callable[[Shape, HyperConfig, int], Model]
    fit: Callable[[Job, Rows, Rows], Model]
    members: int = 1
