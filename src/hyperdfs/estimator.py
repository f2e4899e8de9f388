"""The scikit-learn face: `DFSClassifier` for any method, `HyperDFSClassifier` for Hyper-DFS."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from hyperdfs.acquisition import Selector, walk
from hyperdfs.errors import InputError
from hyperdfs.features import FeatureSpace
from hyperdfs.fitting import FittedState, fit_state, pick_device
from hyperdfs.heap import kept_memory
from hyperdfs.inputs import (
    check_budgets,
    check_positive,
    check_seed,
    check_selector,
    check_weights,
    flat_labels,
    input_errors,
    known_at_start,
    known_codes,
    label_codes,
)
from hyperdfs.methods import get_method
from hyperdfs.metrics import PAPER_BUDGETS, metric_curve
from hyperdfs.preprocess import as_table, plain_array
from hyperdfs.progress import show_progress
from hyperdfs.results import Acquisition, make_acquisition, normalised
from hyperdfs.threads import one_thread

if TYPE_CHECKING:
    from hyperdfs.case import Case
    from hyperdfs.export import SubsetClassifier


class DFSClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that buys features one at a time, by any registered method.

    Parameters
    ----------
    method : a name from `hyperdfs.method_names()`.
    max_budget : the largest number of purchases to train for.
    costs : price per feature: mapping, Series or array; None: all cost 1.
    groups : columns that are bought together, ``{"ecg": ["restecg", "exang"]}``.
    preset : "default" (the best known), "paper" (Hyper-DFS as in its paper) or, for the other
        methods, "authors" (the values of their authors).
    config : single fields of the preset to replace, e.g. of `hyperdfs.config.HyperConfig`.
    device : "auto", "cpu" or "cuda".
    random_state : same seed, same model. A fit uses one thread, so that the number of cores does
        not matter; run folds side by side instead.
    verbose : 1 shows a progress bar on a terminal.

    A missing cell (NaN, None, pd.NA) is a feature that is not known. In training it cannot be
    bought. In `acquire` a purchase whose result is missing is paid for and teaches nothing.
    A feature without any value in training is bought last, and teaches nothing either.
    The presets "paper" and "authors" and the method "oracle" fill missing cells in before both, as
    the paper does.
    """

    def __init__(
        self,
        method: str = "hyperdfs",
        *,
        max_budget: int = 10,
        costs: Any = None,
        groups: Any = None,
        preset: str = "default",
        config: Mapping[str, Any] | None = None,
        device: str = "auto",
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.max_budget = max_budget
        self.costs = costs
        self.groups = groups
        self.preset = preset
        self.config = config
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _members(self) -> int:
        return get_method(self.method).members

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn predictor and selector from complete or incomplete rows."""
        config = get_method(self.method).configure(self.preset, self.config)
        members, budget = self._members(), check_positive("max_budget", self.max_budget)
        device = pick_device(self.device)
        table = as_table(X)
        labels, classes = label_codes(y, len(table))
        weight = check_weights(sample_weight, len(table))
        space = FeatureSpace.from_columns(list(table.columns), groups=self.groups, costs=self.costs)
        kept = weight > 0
        if not kept.all():  # a row of weight 0 must be as good as absent
            table, labels, weight = table[kept], labels[kept], weight[kept]
            classes, labels = classes[np.unique(labels)], np.unique(labels, return_inverse=True)[1]
        if len(classes) < 2:
            raise InputError(
                f"y must hold at least two classes, got one class: {classes.tolist()[0]!r}; "
                "add rows of another class."
            )
        seed = check_seed(self.random_state)
        params = {**self.get_params(deep=False), "config": copy.deepcopy(self.config)}
        with show_progress(self.verbose) as progress, one_thread(), kept_memory():
            state = fit_state(
                table,
                labels,
                weight,
                space,
                n_classes=len(classes),
                method=self.method,
                config=config,
                members=members,
                max_budget=budget,
                device=device,
                seed=seed,
                progress=progress,
            )
        state.params = params
        self._check_columns(X, reset=True)  # a fit that fails leaves the estimator as it was
        self._state, self.classes_ = state, classes
        self._publish()
        return self

    def _publish(self) -> None:
        """Fitted attributes that follow from the state."""
        self.features_ = self._state.preprocessor.space
        self.config_ = self._state.config
        self.history_ = self._state.model.history
        self.max_budget_ = min(int(self._state.params["max_budget"]), len(self.features_))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities; every non-missing cell counts as known, every missing one as not."""
        state, (values, observed) = self._encode(X, impute=False)
        mask = _tensor(observed, state)
        return normalised(state.model.predictor.proba(_tensor(values, state), mask).cpu().numpy())

    def predict(self, X: Any) -> np.ndarray:
        """The most probable label of each row, from its known cells."""
        proba = self.predict_proba(X)
        predicted: np.ndarray = self.classes_[proba.argmax(1)]
        return predicted

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy from the known cells."""
        return float(super().score(X, flat_labels(y), sample_weight))

    def acquire(
        self,
        X: Any,
        budget: int | None = None,
        *,
        selector: Selector | None = None,
        known: Any = None,
    ) -> Acquisition:
        """Simulate purchases for complete rows, one trajectory per row.

        selector : another policy for the same predictor, e.g. `selectors.fixed.RandomSelector()`.
        known : what is known before the first purchase and costs nothing: features by name, the
        same for all rows, or a boolean array (n, M) or DataFrame, whose columns are matched by
        name. By default every row starts from nothing.
        """
        check_selector(selector)
        state, (values, observed) = self._encode(X, impute=True)
        wanted = self.max_budget_ if budget is None else check_positive("budget", budget)
        start = known_at_start(known, self.features_, len(values))
        path = walk(
            state.model.predictor,
            selector or state.model.selector,
            _tensor(values, state),
            _tensor(observed, state),
            state.shape.columns(),
            wanted,
            known=None if start is None else _tensor(start, state),
            last=torch.as_tensor(state.preprocessor.unlearnt, device=state.model.device),
        )
        return make_acquisition(path.order, path.proba, self.features_.costs)

    def acquisition_curve(
        self,
        X: Any,
        y: Any,
        budgets: Iterable[int] = PAPER_BUDGETS,
        metric: str = "f1_macro",
        *,
        selector: Selector | None = None,
    ) -> pd.Series:
        """The metric after each number of purchases; budgets above M are dropped."""
        check_is_fitted(self)
        wanted = check_budgets(budgets, len(self.features_))
        labels = known_codes(y, self.classes_)
        proba = self.acquire(X, max(max(wanted), 1), selector=selector).proba
        if len(labels) != len(proba):
            raise InputError(
                f"X and y must be of one length, got {len(proba)} and {len(labels)}; "
                "align the rows."
            )
        values = metric_curve(metric, labels, proba[:, wanted])
        return pd.Series(values, index=pd.Index(wanted, name="budget"), name=metric)

    def auac(
        self,
        X: Any,
        y: Any,
        budgets: Iterable[int] = PAPER_BUDGETS,
        *,
        selector: Selector | None = None,
    ) -> float:
        """The paper's AUAC-F1 as a fraction: mean macro-F1 over the budgets."""
        return float(self.acquisition_curve(X, y, budgets, selector=selector).mean())

    def start_case(self, values: Mapping[str, Any] | None = None, /, **known: Any) -> Case:
        """One live case; values known at the start by name, as keywords or as a mapping.

        A missing value is one that is not known: it can still be bought.
        """
        from hyperdfs.case import Case

        check_is_fitted(self)
        if not isinstance(values, Mapping | pd.Series | None):
            raise InputError(
                f"A case starts from values by feature name, got {type(values).__name__}; "
                "pass a mapping or keywords."
            )
        return Case(self, {**({} if values is None else dict(values)), **known})

    def specialise(self, features: Sequence[str | int]) -> SubsetClassifier:
        """The generated classifier for exactly this subset, stand-alone."""
        from hyperdfs.export import specialise

        check_is_fitted(self)
        return specialise(self, features)

    def save(self, path: str | Path) -> None:
        """Write one file: JSON and safetensors, no pickle."""
        from hyperdfs.bundle import save

        check_is_fitted(self)
        save(self, path)

    def _check_columns(self, X: Any, *, reset: bool) -> None:
        """Names and number of columns, as scikit-learn's contract has it: kept or compared."""
        named = X if isinstance(X, pd.DataFrame) else plain_array(X)
        with input_errors():
            validate_data(self, named, reset=reset, skip_check_array=True)

    def _encode(self, X: Any, *, impute: bool) -> tuple[FittedState, Any]:
        check_is_fitted(self)
        self._check_columns(X, reset=False)
        table = as_table(X, expected=self._state.input_columns)
        return self._state, self._state.preprocessor.transform(table, impute=impute)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class HyperDFSClassifier(DFSClassifier):
    """Hyper-DFS: a hypernetwork generates a dedicated small classifier for each subset.

    n_members : 5 is HyperEns, five predictors that share one selector. The other parameters are
    those of `DFSClassifier`.

    >>> from hyperdfs.datasets import load_dataset
    >>> data = load_dataset("proxysub", n_samples=200)
    >>> quick = {"stage1_epochs": 2, "stage2_epochs": 2}
    >>> clf = HyperDFSClassifier(max_budget=3, config=quick).fit(data.X, data.y)
    >>> clf.acquire(data.X, budget=2).proba.shape
    (200, 3, 2)
    """

    method = "hyperdfs"

    def __init__(
        self,
        max_budget: int = 10,
        *,
        n_members: int = 1,
        costs: Any = None,
        groups: Any = None,
        preset: str = "default",
        config: Mapping[str, Any] | None = None,
        device: str = "auto",
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.max_budget = max_budget
        self.n_members = n_members
        self.costs = costs
        self.groups = groups
        self.preset = preset
        self.config = config
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _members(self) -> int:
        return check_positive("n_members", self.n_members)


def _tensor(array: np.ndarray, state: FittedState) -> torch.Tensor:
    return torch.as_tensor(array, dtype=torch.float32, device=state.model.device)
