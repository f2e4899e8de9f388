"""The classifier that the hypernetwork generates for one subset, on its own."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from hyperdfs.errors import InputError, listing
from hyperdfs.nn.hyper import SubsetNet
from hyperdfs.preprocess import Preprocessor, as_table, plain_array

if TYPE_CHECKING:
    from hyperdfs.estimator import DFSClassifier


@dataclass(frozen=True)
class SubsetClassifier:
    """A plain multilayer perceptron for one subset of features: numpy only, no hypernetwork.

    layers : per member a list of (weight (n_in, n_out), bias (n_out,)); ReLU between them.
    """

    features: tuple[str, ...]
    classes_: np.ndarray
    layers: list[list[tuple[np.ndarray, np.ndarray]]]
    columns: np.ndarray
    preprocessor: Preprocessor
    input_columns: tuple[Hashable, ...]

    def predict_proba(self, X: Any) -> np.ndarray:
        """X needs the columns of the subset only, and all of their values.

        An array has either these columns or all those of the training table, in its order.
        """
        space = self.preprocessor.space
        wanted = [space.index(name) for name in self.features]
        own = {column for i in wanted for column in space.columns[i]}
        mine = [column for column in self.input_columns if column in own]
        known = None
        if not isinstance(X, pd.DataFrame):
            known = mine if plain_array(X).shape[1] == len(mine) else list(self.input_columns)
        table = as_table(X, expected=known)
        absent = [column for column in mine if column not in table.columns]
        if absent:
            raise InputError(
                f"A specialised classifier needs the columns {listing(mine)}, got a table without "
                f"{listing(absent)}; add what is absent."
            )
        encoded = self.preprocessor.transform(
            table.reindex(columns=list(self.input_columns)), impute=False
        )
        if not encoded.observed[:, wanted].all():
            row, which = np.argwhere(~encoded.observed[:, wanted])[0]
            raise InputError(
                f"A specialised classifier needs every feature of its subset, row {row} lacks "
                f"{self.features[which]!r}; use the full model for other subsets."
            )
        x = encoded.values[:, self.columns]
        return np.mean([_softmax(_forward(x, member)) for member in self.layers], axis=0)

    def predict(self, X: Any) -> np.ndarray:
        predicted: np.ndarray = self.classes_[self.predict_proba(X).argmax(1)]
        return predicted


def _forward(x: np.ndarray, layers: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    for i, (weight, bias) in enumerate(layers):
        x = (np.maximum(x, 0.0) if i else x) @ weight + bias
    return x


def _softmax(logits: np.ndarray) -> np.ndarray:
    shifted = np.exp(logits.astype(float) - logits.max(1, keepdims=True))
    result: np.ndarray = shifted / shifted.sum(1, keepdims=True)
    return result


@torch.inference_mode()
def specialise(model: DFSClassifier, features: Iterable[str | int]) -> SubsetClassifier:
    """Generate the weights for this subset and keep only the inputs that it knows."""
    state, space = model._state, model.features_
    net = state.model.modules.get("predictor")
    if not isinstance(net, SubsetNet):
        raise InputError(f"specialise needs a subset network, got method {model.method!r}.")
    listable = isinstance(features, Iterable) and not isinstance(features, str)
    wanted = sorted({space.index(feature) for feature in features}) if listable else []
    if not wanted:
        raise InputError(
            f"specialise needs a list of at least one feature, got {features!r}; "
            f"choose from {listing(space.names)}."
        )
    mask = torch.zeros(1, 1, len(space))
    mask[..., wanted] = 1.0
    columns = np.flatnonzero(np.isin(state.preprocessor.column_group, wanted))
    device = next(net.parameters()).device
    layers = net.specialise(mask.to(device), torch.as_tensor(columns, device=device))
    return SubsetClassifier(
        features=tuple(space.names[i] for i in wanted),
        classes_=model.classes_,
        layers=[[(w.cpu().numpy(), b.cpu().numpy()) for w, b in member] for member in layers],
        columns=columns,
        preprocessor=state.preprocessor,
        input_columns=state.input_columns,
    )
