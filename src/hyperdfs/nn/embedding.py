"""A few learned inputs per feature in place of its many encoded columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from hyperdfs.nn.members import Remembered

TILE = 128  # columns: the block-diagonal matrix is worked on in dense tiles of about this width


class Tile(NamedTuple):
    """Some neighbouring features: their columns, inputs, and part of the laid-out weights."""

    columns: slice
    inputs: slice
    weights: slice


class GroupEmbedding(nn.Module):
    """Linear map of each feature's columns to at most `dim` inputs, shared by all masks.

    Quantile columns let the classifier bend a number at will, but a primary network that takes
    them all in has twenty times the weights to generate. Here each feature learns `dim` functions
    of its value. There is no bias: unknown columns are 0 and stay so. The first input starts as
    the feature's first column (a number's z-score).

    **Shape**: ``(E or 1, n, D) -> (E, n, D')``, weight ``(E, one for each column and input of a
    feature)``
    """

    column: Tensor  # of each weight
    input: Tensor
    place: Tensor  # where the tiles have it

    def __init__(self, members: int, column_group: Sequence[int], dim: int) -> None:
        super().__init__()
        group = torch.as_tensor(column_group)
        sizes = torch.bincount(group)
        widths = sizes.clamp(max=dim)
        first_column, first_input = sizes.cumsum(0) - sizes, widths.cumsum(0) - widths
        column = torch.repeat_interleave(widths[group])
        nth = torch.arange(len(column)) - torch.searchsorted(column, column)
        input_ = first_input[group[column]] + nth
        start = [
            first_weights(*shape).flatten()
            for shape in zip(sizes.tolist(), widths.tolist(), strict=True)
        ]
        self.weight = nn.Parameter(torch.cat(start).repeat(members, 1))
        self.tiles: list[Tile] = []
        place, end = torch.empty_like(column), 0
        tile = first_column[group[column]] // TILE
        for number in tile.unique().tolist():
            own = tile == number
            columns, inputs = _span(column[own]), _span(input_[own])
            width = inputs.stop - inputs.start
            place[own] = end + (column[own] - columns.start) * width + input_[own] - inputs.start
            weights = slice(end, end + (columns.stop - columns.start) * width)
            self.tiles.append(Tile(columns, inputs, weights))
            end = weights.stop
        for name, values in {"column": column, "input": input_, "place": place}.items():
            self.register_buffer(name, values, persistent=False)
        self.n_columns, self.n_out = len(group), int(widths.sum())
        self._laid_out = Remembered()

    def affine(self) -> list[tuple[Tensor, Tensor]]:
        """The map as one layer: weight ``(E, D, D')`` and a bias of 0, ``(E, 1, D')``."""
        weight = self.weight.new_zeros(len(self.weight), self.n_columns, self.n_out)
        weight[:, self.column, self.input] = self.weight
        return [(weight, torch.zeros_like(weight[:, :1]))]

    def forward(self, x: Tensor) -> Tensor:
        weights = self._laid_out.get([self.weight], self._lay_out)
        parts = [
            torch.matmul(x[..., tile.columns], weight)
            for tile, weight in zip(self.tiles, weights, strict=True)
        ]
        return torch.cat(parts, -1) if len(parts) > 1 else parts[0]

    def _lay_out(self) -> list[Tensor]:
        """The weights of each tile, ``(E, columns, inputs)``."""
        zeros = self.weight.new_zeros(len(self.weight), self.tiles[-1].weights.stop)
        flat = zeros.index_copy(1, self.place, self.weight)
        return [
            flat[:, tile.weights].unflatten(1, (-1, tile.inputs.stop - tile.inputs.start))
            for tile in self.tiles
        ]

    def _load_from_state_dict(self, state: dict[str, Tensor], prefix: str, *more: Any) -> None:
        weight = state.get(prefix + "weight")
        if weight is not None and weight.dim() == 3:  # version 1 wrote the whole matrix
            state[prefix + "weight"] = weight[:, self.column, self.input]
        super()._load_from_state_dict(state, prefix, *more)


def _span(places: Tensor) -> slice:
    return slice(int(places.min()), int(places.max()) + 1)


def first_weights(size: int, width: int) -> Tensor:
    """What a feature's inputs start as: its first column, and waves of the others."""
    block = torch.zeros(size, width)
    block[0, 0] = 1.0
    block[1:, 1:] = cosine_waves(size - 1, width - 1)
    return block


def cosine_waves(n_columns: int, n_waves: int) -> Tensor:
    """Weights that turn quantile columns into ``cos(pi k u)``, k = 1..n_waves, u the quantile.

    Column c climbs from 0 to 1 over the c-th bin (and is then scaled to variance 1), so its
    weight is the change of the wave over that bin. Orthogonal waves, slow ones first, are a
    basis of smooth functions; random sums of columns would all look alike. ``(n_columns, n_waves)``

    """
    edge = torch.linspace(0.0, 1.0, n_columns + 1, dtype=torch.float64).unsqueeze(1)
    wave = math.sqrt(2.0) * torch.cos(math.pi * edge * torch.arange(1, n_waves + 1))
    middle = (edge[1:] + edge[:-1]) / 2.0
    return (wave.diff(dim=0) * (middle * (1.0 - middle)).sqrt()).float()
