"""One order for all, fitted and saved with the model."""

from __future__ import annotations

from torch import Tensor

from hyperdfs.nn.arrays import Arrays
from hyperdfs.selectors.fixed import StaticSelector


class FittedOrderSelector:
    """The order in `fitted`, an `Arrays` with "order": all features, first bought first."""

    def __init__(self, fitted: Arrays) -> None:
        self._fitted = fitted

    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        return StaticSelector(self._fitted.get("order").tolist()).scores(x, mask)
