"""Saved models: equal to the bit after loading, whole or refused, and never pickle."""

from __future__ import annotations

import json
import os
import stat
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors
from sklearn.base import clone

from hyperdfs import DFSClassifier, bundle, load
from hyperdfs.errors import DataNotFoundError, InputError, ModelFileError
from hyperdfs.features import FeatureSpace
from small_tables import TINY, fit, mixed, numbers

COSTS = {"body": 3.0, "smoker": 0.5, "job": 1.0, "grade": 0.0, "visits": 2.0}


@pytest.fixture(scope="module")
def table():
    return mixed(40, seed=1)[0]


@pytest.fixture(scope="module")
def clf():
    X, y = mixed()
    groups = {"body": ["age", "height"]}
    return fit(X, y, max_budget=3, n_members=2, groups=groups, costs=COSTS, random_state=4)


@pytest.fixture(scope="module")
def content(clf, tmp_path_factory):
    """The bytes of a saved model."""
    path = tmp_path_factory.mktemp("bundle") / "model.hdfs"
    clf.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def small():
    return fit(*numbers(40), max_budget=2)


def assert_refused(path, error=ModelFileError):
    with pytest.raises(error) as caught:
        load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 250 + len(str(path))


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
        ],
        ids=["max_budget", "seed", "config", "groups", "generator"],
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


class TestWriting:
    def test_a_failing_save_leaves_the_old_file(self, small, content, tmp_path, monkeypatch):
        path = tmp_path / "m.hdfs"
        path.write_bytes(content)

        def full(*args, **kwargs):
            raise OSError("No space left on device")

        monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
        with pytest.raises(OSError, match="No space"):
            small.save(path)
        assert path.read_bytes() == content
        assert os.listdir(tmp_path) == ["m.hdfs"]

    def test_a_save_replaces_the_old_file(self, small, content, tmp_path):
        path = tmp_path / "m.hdfs"
        path.write_bytes(content)
        small.save(str(path))
        np.testing.assert_array_equal(load(str(path)).classes_, small.classes_)

    def test_others_may_read_it_as_the_umask_allows(self, small, tmp_path):
        old = os.umask(0o027)
        try:
            small.save(tmp_path / "m.hdfs")
        finally:
            os.umask(old)
        assert stat.S_IMODE((tmp_path / "m.hdfs").stat().st_mode) == 0o640

    @pytest.mark.parametrize("where", [".", "no/such/folder/m.hdfs"])
    def test_a_wrong_path_is_named(self, small, tmp_path, where):
        with pytest.raises(DataNotFoundError, match="check the path"):
            small.save(tmp_path / where)
        assert os.listdir(tmp_path) == []

    def test_labels_that_json_cannot_hold_are_refused(self, tmp_path):
        X, _ = numbers(40)
        dates = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
        model = fit(X, dates[np.arange(40) % 2], max_budget=1)
        with pytest.raises(InputError, match=r"text, numbers or booleans.*convert y"):
            model.save(tmp_path / "m.hdfs")


class TestDamage:
    def test_a_missing_file(self, tmp_path):
        assert_refused(tmp_path / "none.hdfs", DataNotFoundError)
        assert_refused(tmp_path, DataNotFoundError)

    @pytest.mark.parametrize(
        "junk", [b"", b"PK", b"age,sex\n1,2\n", b"\x80\x04pickle", b"PK\x05\x06" + 18 * b"\0"]
    )
    def test_a_file_of_another_kind(self, junk, tmp_path):
        path = tmp_path / "m.hdfs"
        path.write_bytes(junk)
        assert_refused(path)

    def test_a_foreign_zip(self, tmp_path):
        path = tmp_path / "m.hdfs"
        for members in [{}, {"a.txt": "x"}, {"manifest.json": "[1]", "tensors.safetensors": ""}]:
            with zipfile.ZipFile(path, "w") as archive:
                for name, text in members.items():
                    archive.writestr(name, text)
            assert_refused(path)

    @settings(max_examples=60, deadline=None)
    @given(share=st.floats(0, 1, exclude_max=True))
    def test_truncated_anywhere(self, content, tmp_path_factory, share):
        path = tmp_path_factory.mktemp("cut") / "m.hdfs"
        path.write_bytes(content[: int(share * len(content))])
        assert_refused(path)

    @settings(max_examples=100, deadline=None)
    @given(at=st.integers(0, 10**9), bit=st.integers(0, 7), tail=st.booleans())
    def test_a_flipped_bit_is_refused_or_harmless(
        self, clf, content, table, tmp_path_factory, at, bit, tail
    ):
        damaged = bytearray(content)
        # The directory at the end of a zip is small, and the part whose damage is most diverse.
        at = len(content) - 1 - at % 200 if tail else at % len(content)
        damaged[at] ^= 1 << bit
        path = tmp_path_factory.mktemp("flip") / "m.hdfs"
        path.write_bytes(damaged)
        try:
            model = load(path)
        except ModelFileError:
            return
        np.testing.assert_array_equal(model.predict_proba(table), clf.predict_proba(table))

    def rewrite(self, content, path, manifest=None, tensors=None):
        """The file with parts replaced, checksum and all."""
        path.write_bytes(content)
        with zipfile.ZipFile(path) as archive:
            old = json.loads(archive.read(bundle.MANIFEST))
            packed = archive.read(bundle.TENSORS)
        old.update(manifest or {})
        if tensors is not None:
            packed = tensors(packed)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(bundle.MANIFEST, json.dumps(old))
            archive.writestr(bundle.TENSORS, packed)

    def test_a_newer_version_asks_for_an_upgrade(self, content, tmp_path):
        path = tmp_path / "m.hdfs"
        self.rewrite(content, path, {"version": bundle.VERSION + 1})
        with pytest.raises(ModelFileError, match=r"version 2; upgrade hyperdfs"):
            load(path)

    @pytest.mark.parametrize(
        "manifest",
        [
            {"version": "one"},
            {"version": None},
            {"format": "other"},
            {"sha256": "0"},
            {"members": 3},
            {"members": "many"},
            {"estimator": "LinearRegression"},
            {"params": None},
            {"params": {}},
            {"config": {"nonsense": 1}},
            {"shape": {}},
            {"shape": {"column_group": [0], "n_features": 1, "n_classes": 2, "pixels": False}},
            {"classes": None},
            {"classes": {"labels": ["a"], "dtype": "no such type"}},
            {"preprocessor": {}},
            {"preprocessor": None},
            {"input_columns": None},
        ],
        ids=str,
    )
    def test_an_inconsistent_manifest(self, manifest, content, tmp_path):
        path = tmp_path / "m.hdfs"
        self.rewrite(content, path, manifest)
        assert_refused(path)

    def test_tampered_tensors(self, content, tmp_path):
        path = tmp_path / "m.hdfs"

        def nudge(packed):
            arrays = {name: array.copy() for name, array in load_tensors(packed).items()}
            arrays["typical"] += 1
            return save_tensors(arrays)

        self.rewrite(content, path, tensors=nudge)
        with pytest.raises(ModelFileError, match="checksum"):
            load(path)

    def test_a_wrong_device_is_the_callers_mistake(self, content, tmp_path):
        path = tmp_path / "m.hdfs"
        path.write_bytes(content)
        with pytest.raises(InputError, match="device must be"):
            load(path, device="toaster")
