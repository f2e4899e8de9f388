"""Which features are known: samplers of masks and the step from features to columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from hyperdfs.errors import InputError

Draw = Callable[[int, int, torch.Generator], Tensor]  # masks, features, generator -> (n, M)


def cardinality_uniform(n: int, n_features: int, generator: torch.Generator) -> Tensor:
    """n masks with ``k ~ U{1..M}`` and then a uniform subset of size k: ``(n, M)`` of 0 and 1.

    >>> cardinality_uniform(5, 3, torch.Generator().manual_seed(0)).sum(1).min() >= 1
    tensor(True)
    """
    size = torch.randint(1, n_features + 1, (n, 1), generator=generator)
    rank = torch.rand(n, n_features, generator=generator).argsort(1).argsort(1)
    return (rank < size).float()


def rate_uniform(n: int, n_features: int, generator: torch.Generator) -> Tensor:
    """n masks ``m_j = 1[u_j > r]`` with one rate ``r ~ U(0, 1)`` each: ``(n, M)`` of 0 and 1.

    All sizes from 0 to M are equally likely, so that, unlike `cardinality_uniform`, the empty
    subset is among them.
    """
    rate = torch.rand(n, 1, generator=generator)
    return (torch.rand(n, n_features, generator=generator) > rate).float()


def sizes_up_to(limit: int) -> Draw:
    """Draws of uniform subsets with ``k ~ U{0..limit}`` or, as often, ``k ~ U{0..M}``.

    For predictors that will mostly be asked about few of many features, but also about any subset.
    """

    def draw(n: int, n_features: int, generator: torch.Generator) -> Tensor:
        small = torch.rand(n, 1, generator=generator) < 0.5
        most = torch.where(small, min(limit, n_features), n_features)
        size = (torch.rand(n, 1, generator=generator) * (most + 1)).floor()
        rank = torch.rand(n, n_features, generator=generator).argsort(1).argsort(1)
        return (rank < size).float()

    return draw


class MaskSampler:
    """Random masks, never one of `held_out`.

    held_out : (h, M) array of masks to be withheld from training (the zero-shot test), or None.
    draw : the distribution, such as `cardinality_uniform` or `rate_uniform`.
    """

    def __init__(
        self,
        n_features: int,
        generator: torch.Generator,
        *,
        held_out: np.ndarray | None = None,
        draw: Draw = cardinality_uniform,
    ) -> None:
        self.n_features = n_features
        self._generator, self._draw = generator, draw
        self.held_out = mask_keys(np.asarray(held_out, bool)) if held_out is not None else set()
        if len(self.held_out) >= 2**n_features - 1:
            raise InputError(
                f"At least one subset must stay for training, got {len(self.held_out)} distinct "
                f"held-out subsets of {n_features} features; hold out fewer."
            )

    def sample(self, n: int) -> Tensor:
        masks = self._draw(n, self.n_features, self._generator)
        while self.held_out:
            again = self.is_held_out(masks)
            if not again.any():
                break
            masks[again] = self._draw(int(again.sum()), self.n_features, self._generator)
        return masks

    def is_held_out(self, masks: Tensor) -> Tensor:
        """``(n, M) -> (n,)`` bool."""
        packed = np.packbits(masks.detach().cpu().numpy() > 0.5, axis=1)
        found = [row.tobytes() in self.held_out for row in packed]
        return torch.tensor(found, device=masks.device)


def mask_keys(masks: np.ndarray) -> set[bytes]:
    """The distinct rows of a boolean array as hashable keys."""
    return {row.tobytes() for row in np.packbits(masks, axis=1)}


class ColumnMap:
    """Feature mask -> column mask: one feature owns one or more encoded columns.

    column_group : (D,) feature of each column.
    """

    def __init__(self, column_group: np.ndarray, n_features: int) -> None:
        self.n_features, self.n_columns = n_features, len(column_group)
        group = np.asarray(column_group, np.int64)
        self._spread: Tensor | None = None
        if not np.array_equal(group, np.arange(n_features)):
            self._spread = torch.from_numpy(np.eye(n_features, dtype=np.float32)[:, group])

    def expand(self, mask: Tensor) -> Tensor:
        """``(..., M) -> (..., D)``, differentiable in the mask."""
        # A product with 0s and 1s: exact, and its backward is many times faster than indexing's.
        return mask if self._spread is None else mask @ self._spread.to(mask)

    def collapse(self, columns: Tensor) -> Tensor:
        """The sum over each feature's columns, ``(..., D) -> (..., M)``: the way back."""
        return columns if self._spread is None else columns @ self._spread.to(columns).T


def distinct_rows(masks: Tensor) -> tuple[Tensor, Tensor]:
    """First index of every distinct mask, and for each row the number of its mask.

    Masks repeat along a trajectory (all cases share the first purchase), and whatever depends on
    the mask alone need be computed once.
    """
    packed = np.packbits(masks.detach().cpu().numpy() > 0.5, axis=1)
    if packed.shape[1] <= 8:  # a mask in one machine word: sorted several times faster
        words = np.zeros((len(packed), 8), np.uint8)
        words[:, : packed.shape[1]] = packed
        keys: np.ndarray = words.view(">u8").ravel().astype(np.uint64)
    else:
        keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return torch.from_numpy(first), torch.from_numpy(inverse.ravel())
