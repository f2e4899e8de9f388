"""Reference for synthetic data: the true posterior under the best policy known."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from hyperdfs.config import TableConfig
from hyperdfs.datasets import dataset_info, dataset_names
from hyperdfs.datasets.base import FloatArray, Oracle
from hyperdfs.errors import InputError
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.nn.arrays import Arrays
from hyperdfs.preprocess import Preprocessor
from hyperdfs.training.data import Rows


class OracleConfig(TableConfig):
    """Configuration of `oracle`: which generator the rows come from.

    Plain z-scores, because the generator's law is that of the raw values.
    """

    dataset: str = Field("", description="name of a synthetic data set")
    preprocessing: Literal["paper"] = "paper"


class OracleModel:
    """Predictor and selector at once; `fitted` is an `Arrays` with "start" and "width" ``(M,)``."""

    def __init__(self, oracle: Oracle, fitted: Arrays) -> None:
        self._oracle, self._fitted = oracle, fitted

    def _raw(self, x: Tensor) -> FloatArray:
        raw = x.double() * self._fitted.get("width") + self._fitted.get("start")
        return raw.cpu().numpy()

    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        posterior = self._oracle.posterior(self._raw(x), mask.cpu().numpy() > 0.5)
        return torch.from_numpy(posterior).to(x)

    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        known = mask.cpu().numpy() > 0.5
        pick = torch.from_numpy(self._oracle.policy(self._raw(x), known)).to(mask.device)
        return (torch.arange(mask.shape[1], device=mask.device) == pick.unsqueeze(1)).to(mask)


def build(shape: Shape, config: OracleConfig, members: int) -> Model:
    names = dataset_names("synthetic")
    if config.dataset not in names:
        raise InputError(
            f"oracle needs the name of a synthetic data set, got {config.dataset!r}; set "
            f"config={{'dataset': '{names[0]}'}}, say: `hyperdfs datasets` lists them."
        )
    family = dataset_info(config.dataset).family
    assert family is not None
    if (shape.n_features, shape.n_classes) != (family.n_features, family.n_classes):
        raise InputError(
            f"oracle needs rows of {config.dataset!r} with {family.n_features} features and "
            f"{family.n_classes} classes, got {shape.n_features} and {shape.n_classes}; fit it on "
            f"load_dataset({config.dataset!r})."
        )
    fitted = Arrays("start", "width")
    both = OracleModel(family.oracle(), fitted)
    return Model(both, both, {"fitted": fitted})


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    """Nothing is learned: only the way back from z-scores to raw values is noted."""
    model = build(job.shape, job.config, job.members)
    assert job.preprocessor is not None
    start, width = _raw_scale(job.preprocessor)
    fitted = model.modules["fitted"]
    assert isinstance(fitted, Arrays)
    fitted.set("start", torch.from_numpy(start))
    fitted.set("width", torch.from_numpy(width))
    return model.to(job.device)


def _raw_scale(preprocessor: Preprocessor) -> tuple[FloatArray, FloatArray]:
    """``raw = start + width z``, from the z-scores of 0 and 1."""
    ends = []
    for value in (0.0, 1.0):
        cells = [preprocessor.encode_cells(j, value) for j in range(preprocessor.n_features)]
        ends.append(np.array([float(cell[0]) for cell in cells if cell is not None]))
    width = 1.0 / (ends[1] - ends[0])
    return -ends[0] * width, width


ORACLE = Method(
    "oracle",
    "The true posterior under the best policy known (synthetic data)",
    build,
    fit,
    config=OracleConfig,
    presets={"default": {}},
    family="control",
    ranked=False,
    needs_generator=True,
)
