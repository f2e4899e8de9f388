"""What every method must do, whatever its idea: a class of tests to derive from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import torch

from hyperdfs import DFSClassifier, load
from hyperdfs.datasets import load_dataset
from hyperdfs.datasets.patches import PatchGrid
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


def check_branches(
    clf: DFSClassifier, dataset: str, below: set[int], above: set[int], *, by: int
) -> None:
    """A classifier of one of syn4 to syn6 buys the gate x11 and then what its sign points to.

    below, above : what matters where x11 is negative, and where it is not.
    by : the purchase up to which the gate must be there.
    """
    X = load_dataset(dataset, n_samples=500, seed=100).X
    order = clf.acquire(X).order
    is_gate = order == 10
    assert is_gate[:, :by].any(1).mean() > 0.95
    later = np.cumsum(is_gate, 1).astype(bool) & ~is_gate
    negative = X.iloc[:, 10].to_numpy() < 0

    def share(rows: np.ndarray, features: set[int]) -> float:
        """Of the purchases after the gate."""
        return float(np.isin(order, list(features))[rows][later[rows]].mean())

    for rows, own, other in ((negative, below, above), (~negative, above, below)):
        assert share(rows, own) > 0.5
        assert share(rows, own) > share(rows, other) + 0.15
        assert share(rows, own) > share(~rows, own) + 0.15


GRID = PatchGrid(rows=3, columns=3, side=2)


def pictures(n: int = 40, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Nine patches of four pixels; the label is whether the one in the middle is bright."""
    images = np.random.default_rng(seed).integers(0, 256, (n, 6, 6))
    return GRID.table(images), (images[:, 2:4, 2:4].mean((1, 2)) > 127).astype(int)


def twins(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four coins; the third copies the second, which is the label nine times out of ten."""
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 1.0], (n, 4))
    X[:, 2] = X[:, 1]
    return X, np.where(rng.random(n) < 0.9, X[:, 1], -X[:, 1]) > 0


class MethodContract:
    """Set `method` and a `tiny` configuration; the tests of the derived class come with these.

    able : changes to the default preset for a fit that has to learn something.
    """

    method: str
    tiny: dict[str, Any]
    able: ClassVar[dict[str, Any]] = {}

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

    def test_image_patches(self, tmp_path: Path) -> None:
        X, y = pictures()
        clf = DFSClassifier(
            method=self.method, config=self.tiny, max_budget=3, groups=GRID.features()
        )
        bought = clf.fit(X, y).acquire(X, budget=3)
        assert clf.features_.kind == "pixels"
        assert all(len(set(row)) == 3 for row in bought.order.tolist())
        clf.save(tmp_path / "model.hdfs")
        loaded = load(tmp_path / "model.hdfs")
        again = loaded.acquire(X, budget=3)
        np.testing.assert_array_equal(again.order, bought.order)
        np.testing.assert_array_equal(again.proba, bought.proba)
        asked = loaded.predict_proba(only(X, bought.masks(3), clf.features_))
        np.testing.assert_allclose(asked, bought.proba[:, 3], atol=1e-5)

    def test_a_dear_twin_waits(self) -> None:
        """Whichever of the two it is: a method without an eye for prices fails once."""
        X, y = twins()
        for dear, cheap in ((1, 2), (2, 1)):
            costs = np.ones(4)
            costs[dear] = 10.0
            config = {"n_bins": 0, **self.able}
            clf = DFSClassifier(method=self.method, config=config, max_budget=2, costs=costs)
            first = clf.fit(X, y).acquire(twins(100, seed=1)[0], budget=2).order[:, 0]
            assert (first == cheap).mean() > max(0.5, (first == dear).mean())
