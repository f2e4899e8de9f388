"""Orders that do not look at the case, fitted and saved with the model."""

from __future__ import annotations

from torch import Tensor

from hyperdfs.nn.arrays import Arrays
from hyperdfs.selectors.fixed import RandomSelector, StaticSelector


class FittedOrderSelector:
    """The order in `fitted`, an `Arrays` with "order": all features, first bought first."""

    def __init__(self, fitted: Arrays) -> None:
        self._fitted = fitted

    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        return StaticSelector(self._fitted.get("order").tolist()).scores(x, mask)


class FittedRandomSelector:
    """Random orders from the seed of the fit: `fitted` is an `Arrays` with "seed"."""

    def __init__(self, fitted: Arrays) -> None:
        self._fitted = fitted

    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        return RandomSelector(int(self._fitted.get("seed"))).scores(x, mask)
