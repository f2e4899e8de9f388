"""What every method must do, whatever its idea: a class of tests to derive from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from hyperdfs import DFSClassifier, load
from hyperdfs.features import FeatureSpace
from hyperdfs.fitting import fit_state
from hyperdfs.methods import get_method
from small_tables import mixed, numbers, only

GROUPS = {"body": ["age", "height"]}
COSTS = {"body": 3.0, "smoker": 0.5, "job": 1.0, "grade": 0.0, "visits": 2.0}


def gate(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Five coins; the fourth is half of the label and says which of the first two is the rest.

    Two purchases tell the label, if the second depends on the first; no fixed order does.
    """
    X = np.random.default_rng(seed).choice([-1.0, 1.0], (n, 5))
    pointed = np.where(X[:, 3] > 0, X[:, 0], X[:, 1])
    return X, 2 * (X[:, 3] > 0) + (pointed > 0)


def check_gate(clf: DFSClassifier) -> None:
    """A fitted classifier buys the gate and then what it points to."""
    X, y = gate(300, seed=1)
    bought = clf.acquire(X, budget=2)
    assert (bought.order[:, 0] == 3).all()
    assert (bought.order[:, 1] == np.where(X[:, 3] > 0, 0, 1)).mean() > 0.95
    assert (bought.proba[:, 2].argmax(1) == y).mean() > 0.95


class MethodContract:
    """Set `method` and a `tiny` configuration; the tests of the derived class come with these."""

    method: str
    tiny: dict[str, Any]

    @classmethod
    def fit(cls, costs: Any) -> DFSClassifier:
        X, y = mixed()
        model = DFSClassifier(
            method=cls.method, config=cls.tiny, max_budget=4, groups=GROUPS, costs=costs
        )
        return model.fit(X, y)

    @pytest.fixture(scope="class")
    @classmethod
    def clf(cls) -> DFSClassifier:
        """Mixed columns with missing cells, a group of two columns, prices, labels of text."""
        return cls.fit(COSTS)

    @pytest.fixture(scope="class")
    @classmethod
    def table(cls) -> pd.DataFrame:
        return mixed(40, seed=1)[0]

    def test_shapes(self, clf: DFSClassifier, table: pd.DataFrame) -> None:
        bought = clf.acquire(table, budget=4)
        assert bought.order.shape == (40, 4)
        assert all(len(set(row)) == 4 for row in bought.order.tolist())
        np.testing.assert_allclose(bought.proba.sum(2), 1.0, atol=1e-5)
        assert set(clf.predict(table)) <= {"sick", "well"}

    def test_saved_and_loaded(
        self, clf: DFSClassifier, table: pd.DataFrame, tmp_path: Path
    ) -> None:
        clf.save(tmp_path / "model.hdfs")
        again = load(tmp_path / "model.hdfs").acquire(table, budget=4)
        bought = clf.acquire(table, budget=4)
        np.testing.assert_array_equal(again.order, bought.order)
        np.testing.assert_array_equal(again.proba, bought.proba)

    def test_same_seed_same_model(self, clf: DFSClassifier, table: pd.DataFrame) -> None:
        before = torch.random.get_rng_state()
        again = self.fit(COSTS).acquire(table, budget=4)
        assert torch.equal(before, torch.random.get_rng_state())
        bought = clf.acquire(table, budget=4)
        np.testing.assert_array_equal(again.order, bought.order)
        np.testing.assert_array_equal(again.proba, bought.proba)

    def test_what_is_not_bought_does_not_matter(
        self, clf: DFSClassifier, table: pd.DataFrame
    ) -> None:
        """Neither for the predictions nor for the purchases."""
        bought = clf.acquire(table, budget=3)
        kept = bought.masks(3)
        other = mixed(40, seed=2, missing=False)[0]
        mixture = only(table, kept, clf.features_)
        for i, columns in enumerate(clf.features_.columns):
            for column in columns:
                cells = pd.Series(kept[:, i], index=table.index)
                mixture[column] = mixture[column].astype(object).where(cells, other[column])
        mixture = mixture.astype(table.dtypes.to_dict())
        again = clf.acquire(mixture, budget=3)
        np.testing.assert_array_equal(again.order, bought.order)
        np.testing.assert_allclose(again.proba, bought.proba, atol=1e-5)
        asked = clf.predict_proba(only(table, kept, clf.features_))
        np.testing.assert_allclose(asked, bought.proba[:, 3], atol=1e-5)

    def test_rows_do_not_depend_on_each_other(
        self, clf: DFSClassifier, table: pd.DataFrame
    ) -> None:
        bought = clf.acquire(table, budget=4)
        for rows in (slice(None, None, -1), slice(5, 6)):
            part = clf.acquire(table.iloc[rows], budget=4)
            np.testing.assert_array_equal(part.order, bought.order[rows])
            np.testing.assert_allclose(part.proba, bought.proba[rows], atol=1e-5)

    def test_the_published_setting(self, table: pd.DataFrame) -> None:
        X, y = mixed()
        clf = DFSClassifier(method=self.method, preset="authors", config=self.tiny, max_budget=3)
        proba = clf.fit(X, y).acquire(table, budget=3).proba
        assert np.isfinite(proba).all()
        assert clf.config_.preprocessing == "paper"

    def test_a_fit_with_withheld_subsets(self) -> None:
        """The zero-shot test: what is withheld still gets a prediction."""
        X, y = numbers(40, m=3)
        table, method = pd.DataFrame(X, columns=["a", "b", "c"]), get_method(self.method)
        held_out = np.array([[True, True, False], [False, True, True]])
        state = fit_state(
            table,
            y,
            np.ones(40),
            FeatureSpace.from_columns(table.columns),
            n_classes=2,
            method=self.method,
            config=method.configure("default", self.tiny),
            members=method.members,
            max_budget=3,
            device=torch.device("cpu"),
            seed=0,
            progress=lambda *_: None,
            held_out=held_out,
        )
        mask = torch.from_numpy(held_out).float()
        proba = state.model.predictor.proba(torch.from_numpy(X[:2]).float() * mask, mask)
        assert torch.isfinite(proba).all()

    def test_equal_prices_change_nothing(self, table: pd.DataFrame) -> None:
        free, priced = (self.fit(costs).acquire(table, budget=4) for costs in (None, 2.5))
        np.testing.assert_array_equal(free.order, priced.order)
        np.testing.assert_array_equal(free.proba, priced.proba)
