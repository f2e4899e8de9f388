"""Files of models: written whole or not at all, and refused when damaged."""

from __future__ import annotations

import json
import os
import stat
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors
from saved_models import priced_model, saved_bytes, small_model

from hyperdfs import bundle, load
from hyperdfs.errors import DataNotFoundError, InputError, ModelFileError
from small_tables import mixed


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The bytes of a saved model."""
    return saved_bytes(priced_model(), tmp_path_factory.mktemp("bundle"))


@pytest.fixture(scope="module")
def small():
    return small_model()


def assert_refused(path, error=ModelFileError):
    with pytest.raises(error) as caught:
        load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 250 + len(str(path))


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
    def test_a_flipped_bit_is_refused_or_harmless(self, content, tmp_path_factory, at, bit, tail):
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
        X, _ = mixed(40, seed=1)
        np.testing.assert_array_equal(model.predict_proba(X), priced_model().predict_proba(X))

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
        with pytest.raises(ModelFileError, match=r"version 3; upgrade hyperdfs"):
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
            {"classes": {"labels": ["well"], "dtype": "object"}},
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
