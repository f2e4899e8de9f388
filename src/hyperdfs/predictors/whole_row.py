"""The predictor of the reference `full`, which is shown every cell."""

from __future__ import annotations

from torch import Tensor

from hyperdfs.nn.arrays import Arrays
from hyperdfs.predictors.mlp import MLPPredictor
from hyperdfs.predictors.trees import TreesPredictor


class WholeRowPredictor:
    """A network and boosted trees, mixed: "share" of an `Arrays` is that of the trees.

    `peeks`: a walk shows it every cell that has a value, bought or not.
    """

    peeks = True

    def __init__(self, net: MLPPredictor, trees: TreesPredictor, fitted: Arrays) -> None:
        self.net, self.trees, self._fitted = net, trees, fitted

    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)``, ``(n, M)`` -> ``(n, C)``."""
        share = float(self._fitted.get("share"))
        if share == 0.0:
            return self.net.proba(x, mask)
        if share == 1.0:
            return self.trees.proba(x, mask)
        return (1.0 - share) * self.net.proba(x, mask) + share * self.trees.proba(x, mask)
