"""The controls: what a method of dynamic feature selection has to beat, and what bounds it."""

from __future__ import annotations

from typing import Literal

from torch import Tensor

from hyperdfs.config import TableConfig
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.methods.full import FULL
from hyperdfs.methods.oracle import ORACLE
from hyperdfs.methods.static_mlp import MASKED_METHODS
from hyperdfs.methods.static_trees import STATIC_TREES
from hyperdfs.methods.trees_missing import TREES_MISSING
from hyperdfs.nn.arrays import Arrays
from hyperdfs.selectors.fixed import StaticSelector
from hyperdfs.training.data import Rows, joined


class ConstantConfig(TableConfig):
    """Configuration of `constant`: frequencies as they are, and nothing encoded for nobody."""

    n_bins: int | None = 0
    class_weight: Literal["root", "balanced"] | None = None


class SharesPredictor:
    """The same probabilities for every row: "shares" ``(C,)`` of an `Arrays`."""

    def __init__(self, fitted: Arrays) -> None:
        self._fitted = fitted

    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        return self._fitted.get("shares").repeat(len(x), 1)


def build_constant(shape: Shape, config: ConstantConfig, members: int) -> Model:
    fitted = Arrays("shares")
    selector = StaticSelector(range(shape.n_features))
    return Model(SharesPredictor(fitted), selector, {"fitted": fitted})


def fit_constant(job: Job, train: Rows, valid: Rows) -> Model:
    model = build_constant(job.shape, job.config, job.members)
    rows = joined(train, valid)
    fitted = model.modules["fitted"]
    assert isinstance(fitted, Arrays)
    shares = (rows.target * rows.weight.unsqueeze(1)).double().sum(0)
    fitted.set("shares", (shares / shares.sum()).float())
    return model.to(job.device)


CONSTANT = Method(
    "constant",
    "The shares of the classes, whatever is known",
    build_constant,
    fit_constant,
    config=ConstantConfig,
    presets={"default": {}},
    family="control",
    ranked=False,
)

CONTROL_METHODS = [*MASKED_METHODS, STATIC_TREES, TREES_MISSING, CONSTANT, FULL, ORACLE]
