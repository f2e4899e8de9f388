"""Saved models: equal to the bit after loading, and never pickle."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.numpy import load as load_tensors
from saved_models import priced_model, saved_bytes, small_model
from sklearn.base import clone

from hyperdfs import DFSClassifier, bundle, load
from hyperdfs.features import FeatureSpace
from small_tables import TINY, fit, mixed, numbers


@pytest.fixture(scope="module")
def table():
    return mixed(40, seed=1)[0]


@pytest.fixture(scope="module")
def clf():
    return priced_model()


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The bytes of a saved model."""
    return saved_bytes(priced_model(), tmp_path_factory.mktemp("bundle"))


@pytest.fixture(scope="module")
def small():
    return small_model()


class TestRoundTrip:
    def test_equal_to_the_bit(self, clf, content, table, tmp_path):
        path = tmp_path / "m.hdfs"
        path.write_bytes(content)
        again = load(path)
        assert type(again) is type(clf)
        np.testing.assert_array_equal(again.predict_proba(table), clf.predict_proba(table))
        np.testing.assert_array_equal(again.predict(table), clf.predict(table))
        mine, theirs = clf.acquire(table, 5), again.acquire(table, 5)
        np.testing.assert_array_equal(mine.order, theirs.order)
        np.testing.assert_array_equal(mine.proba, theirs.proba)
        np.testing.assert_array_equal(mine.cost, theirs.cost)
        known = {"body": [50, 170], "job": "cook"}
        assert again.start_case(known).recommend(9) == clf.start_case(known).recommend(9)
        assert again.history_ == clf.history_
        assert again.config_ == clf.config_
        assert again.features_ == clf.features_
        assert again.max_budget_ == clf.max_budget_
        assert again.n_features_in_ == clf.n_features_in_
        np.testing.assert_array_equal(again.feature_names_in_, clf.feature_names_in_)
        np.testing.assert_array_equal(
            again.specialise(["body"]).predict_proba(table[["age", "height"]].fillna(1)),
            clf.specialise(["body"]).predict_proba(table[["age", "height"]].fillna(1)),
        )

    def test_the_same_model_gives_the_same_bytes(self, clf, content, tmp_path):
        clf.save(tmp_path / "again.hdfs")
        assert (tmp_path / "again.hdfs").read_bytes() == content
        load(tmp_path / "again.hdfs").save(tmp_path / "third.hdfs")
        first, third = (zipfile.ZipFile(tmp_path / f"{n}.hdfs") for n in ("again", "third"))
        with first, third:
            assert first.read(bundle.TENSORS) == third.read(bundle.TENSORS)

    def test_nothing_inside_but_json_and_tensors(self, content, tmp_path):
        path = tmp_path / "m.hdfs"
        path.write_bytes(content)
        with zipfile.ZipFile(path) as archive:
            assert sorted(archive.namelist()) == ["manifest.json", "tensors.safetensors"]
            json.loads(archive.read("manifest.json"))
            assert load_tensors(archive.read("tensors.safetensors"))

    def test_parameters_come_back_and_can_be_fitted_again(self, clf, content, tmp_path):
        path = tmp_path / "m.hdfs"
        path.write_bytes(content)
        again = load(path)
        for name in ("max_budget", "n_members", "preset", "device", "random_state", "verbose"):
            assert getattr(again, name) == getattr(clf, name), name
        X, y = mixed(40)
        refitted = clone(again).fit(X, y)
        assert refitted.features_ == clf.features_
        assert refitted.config_ == clf.config_

    @pytest.mark.parametrize(
        "labels",
        [
            np.array([-3, 8]),
            np.array(["no", "maybe so"]),
            np.array([False, True]),
            np.array([1.0, 2.0]),
            np.array(["a", "b"], dtype=object),
            np.array([1, 2], dtype=np.int8),
        ],
        ids=lambda labels: str(labels.dtype),
    )
    def test_labels_keep_their_dtype(self, small, labels, tmp_path):
        X, y = numbers(40)
        model = fit(X, labels[y], max_budget=1)
        model.save(tmp_path / "m.hdfs")
        again = load(tmp_path / "m.hdfs")
        assert again.classes_.dtype == model.classes_.dtype
        np.testing.assert_array_equal(again.predict(X), model.predict(X))

    @pytest.mark.parametrize(
        "costs",
        [
            {"x0": 1, "x1": 2.5, "x2": 0, "x3": 4},
            pd.Series({"x3": 4, "x1": 2.5, "x2": 0, "x0": 1}),
            np.array([1, 2.5, 0, 4]),
            [1, 2.5, 0, 4],
        ],
        ids=lambda costs: type(costs).__name__,
    )
    def test_costs_in_any_form(self, costs, tmp_path):
        X, y = numbers(40)
        fit(X, y, max_budget=1, costs=costs).save(tmp_path / "m.hdfs")
        again = load(tmp_path / "m.hdfs")
        assert again.features_.costs.tolist() == [1, 2.5, 0, 4]
        assert clone(again).fit(X, y).features_.costs.tolist() == [1, 2.5, 0, 4]

    @pytest.mark.parametrize(
        "params",
        [
            {"max_budget": np.int64(2)},
            {"random_state": np.int64(7)},
            {"config": {"primary": (4,), "stage1_epochs": np.int32(2), "noise": np.float32(0.5)}},
            {"groups": FeatureSpace.from_columns(["x0", "x1", "x2", "x3"], costs=2.0)},
            {"random_state": np.random.RandomState(0)},
            {"device": torch.device("cpu")},
        ],
        ids=["max_budget", "seed", "config", "groups", "generator", "device"],
    )
    def test_parameters_in_numpys_and_other_types(self, params, tmp_path):
        X, y = numbers(40)
        model = fit(X, y, **params)
        model.save(tmp_path / "m.hdfs")
        again = load(tmp_path / "m.hdfs")
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.config_ == model.config_
        assert again.features_ == model.features_
        seed = params.get("random_state", 0)
        # A generator is used up by the fit and cannot be written down.
        assert again.random_state == (None if isinstance(seed, np.random.RandomState) else seed)
        assert clone(again).fit(X, y).config_ == model.config_

    def test_parameters_are_those_of_the_fit(self, tmp_path):
        """Whatever they are set to later, for the next fit."""
        X, y = numbers(40)
        config = dict(TINY)
        model = DFSClassifier("random", max_budget=2, config=config, costs=[1, 2, 3, 4])
        model.fit(X, y).set_params(method="vip", max_budget=4, preset="authors", costs=None)
        config["stage1_epochs"] = 1
        model.save(tmp_path / "m.hdfs")
        again = load(tmp_path / "m.hdfs")
        assert (again.method, again.max_budget, again.preset) == ("random", 2, "default")
        assert again.max_budget_ == model.max_budget_ == 2
        np.testing.assert_array_equal(again.acquire(X).proba, model.acquire(X).proba)
        refitted = clone(again).fit(X, y)
        assert refitted.config_ == model.config_
        assert refitted.features_ == model.features_
        again.save(tmp_path / "again.hdfs")
        assert (tmp_path / "again.hdfs").read_bytes() == (tmp_path / "m.hdfs").read_bytes()

    @pytest.mark.parametrize("columns", [[0, 1, 2, 3], [9, 3, 7, 1]])
    def test_integer_column_names(self, columns, tmp_path):
        X, y = numbers(40)
        X = pd.DataFrame(X, columns=columns)
        model = fit(X, y, max_budget=1, groups={"pair": columns[1:3]})
        model.save(tmp_path / "m.hdfs")
        again = load(tmp_path / "m.hdfs")
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))

    def test_a_method_by_name_and_the_papers_preset(self, tmp_path):
        X, y = mixed(40)
        model = DFSClassifier("random", max_budget=2, preset="paper", config=TINY).fit(X, y)
        model.save(tmp_path / "m.hdfs")
        again = load(tmp_path / "m.hdfs", device="cpu")
        assert (again.method, again.preset) == ("random", "paper")
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
