"""Predictors made of boosted trees, which take unknown values as they are."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.masks import ColumnMap
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.trees import Forest


class TreesPredictor:
    """One booster for all subsets."""

    def __init__(self, forest: Forest, columns: ColumnMap, number: int = 0) -> None:
        self._forest, self._columns, self._number = forest, columns, number

    @torch.inference_mode()
    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)``, ``(n, M)`` -> ``(n, C)``."""
        return self._forest.proba(
            x.masked_fill(self._columns.expand(mask) < 0.5, torch.nan), self._number
        )


class PrefixTreesPredictor:
    """A booster for each of some beginnings of an order, and one for all other subsets.

    `fitted` is an `Arrays` with "order" ``(M,)``, "sizes" ``(k,)`` ascending, for booster i the
    length of its beginning, and "blank" ``(M,)``: whether a feature's cells are sometimes missing.
    Booster k is the one for all other subsets. A beginning may lack features that are sometimes
    missing, because its booster was fitted on such rows.
    """

    def __init__(self, forest: Forest, fitted: Arrays, columns: ColumnMap) -> None:
        self._forest, self._fitted, self._columns = forest, fitted, columns

    @torch.inference_mode()
    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)``, ``(n, M)`` -> ``(n, C)``."""
        numbers = self._boosters(mask)
        result: Tensor | None = None
        for number in numbers.unique().tolist():
            rows = (numbers == number).nonzero()[:, 0]
            trees = TreesPredictor(self._forest, self._columns, number)
            part = trees.proba(x[rows], mask[rows])
            if result is None:
                result = part.new_empty(len(x), part.shape[1])
            result[rows] = part
        assert result is not None
        return result

    def _boosters(self, mask: Tensor) -> Tensor:
        """The number of the booster for each row: the shortest beginning that holds its subset."""
        order, sizes = self._fitted.get("order"), self._fitted.get("sizes")
        step = order.argsort() + 1
        length = (mask * step).amax(1).long()
        number = torch.searchsorted(sizes, length)
        reach = torch.cat([sizes, sizes.new_zeros(1)])[number]
        lacking = (step <= reach.unsqueeze(1)) & (mask < 0.5) & ~self._fitted.get("blank")
        return torch.where(lacking.any(1), len(sizes), number)
