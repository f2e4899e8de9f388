"""Images as patches: the grid, the real files, and small files of every format."""

from __future__ import annotations

import gzip
import struct
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from need_files import need
from scipy.io import savemat

from hyperdfs import HyperDFSClassifier
from hyperdfs.datasets import dataset_info, load_dataset
from hyperdfs.datasets.images import (
    DIGITS,
    PCAM_GRID,
    read_mnist_like,
    read_pcam,
    read_svhn,
)
from hyperdfs.datasets.patches import PatchGrid
from hyperdfs.errors import InputError

RNG = np.random.default_rng(0)
load_once = cache(load_dataset)


@settings(max_examples=30, deadline=None)
@given(
    grid=st.builds(PatchGrid, *[st.integers(1, 4)] * 3, channels=st.sampled_from([1, 3])),
    data=st.data(),
)
def test_a_patch_is_a_feature_row_by_row(grid: PatchGrid, data: st.DataObject) -> None:
    rows, columns, side = grid.rows, grid.columns, grid.side
    images = RNG.integers(0, 256, size=(2, *grid.image_shape), dtype=np.uint8)
    table, features = grid.table(images), grid.features()
    assert len(features) == rows * columns
    r, c = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    members = features.columns[features.index(f"patch_{r}_{c}")]
    patch = images[1, r * side : (r + 1) * side, c * side : (c + 1) * side]
    assert np.allclose(table.loc[1, list(members)], patch.ravel() / 255)
    # Left to right, top to bottom.
    assert features.names[r * columns + c] == f"patch_{r}_{c}"
    assert list(table.columns) == [name for group in features.columns for name in group]
    assert features.kind == "pixels"
    assert table.dtypes.eq(np.float32).all()


@pytest.mark.parametrize(
    ("name", "mean", "deviation"), [("mnist", 0.1307, 0.3081), ("fashion_mnist", 0.2860, 0.3530)]
)
def test_real_images(name: str, mean: float, deviation: float) -> None:
    need(name)
    data = load_once(name)
    assert data.X.shape == (70_000, 784)
    assert (len(data.features), data.n_classes, data.n_train) == (49, 10, 60_000)
    pixels = data.X.to_numpy()
    assert pixels.dtype == np.float32
    assert (pixels.min(), pixels.max()) == (0.0, 1.0)
    train = pixels[: data.n_train]
    first, second = train.mean(dtype=np.float64), np.vdot(train, train) / train.size
    assert first == pytest.approx(mean, abs=5e-5)
    assert np.sqrt(second - first**2) == pytest.approx(deviation, abs=5e-4)
    assert data.kind == "images"
    assert data.features.kind == "pixels"
    # Test rows follow the training rows; the first test digit of MNIST is a famous 7.
    if name == "mnist":
        assert data.y[[0, 60_000]].tolist() == [5, 7]


def test_the_estimator_takes_them_as_they_are() -> None:
    need("mnist")
    data = load_once("mnist")
    clf = HyperDFSClassifier(
        max_budget=3,
        groups=data.features,
        config={"stage1_epochs": 1, "stage2_epochs": 1, "teacher_weight": 0, "start_order": False},
    )
    clf.fit(data.X.iloc[:300], data.y[:300])
    bought = clf.acquire(data.X.iloc[300:320], budget=3)
    assert bought.order.shape == (20, 3)
    assert len(clf.features_) == 49


def idx(array: np.ndarray) -> bytes:
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def test_idx_files_equal_the_npz(tmp_path: Path) -> None:
    images = RNG.integers(0, 256, size=(5, 28, 28), dtype=np.uint8)
    labels = np.array([3, 1, 4, 1, 5], dtype=np.uint8)
    parts = {"x_train": images[:3], "y_train": labels[:3], "x_test": images[3:]}
    parts["y_test"] = labels[3:]
    np.savez_compressed(tmp_path / "all.npz", **parts)
    paths = []
    for name, array in parts.items():
        paths.append(tmp_path / f"{name}.gz")
        paths[-1].write_bytes(gzip.compress(idx(array)))
    one = read_mnist_like((tmp_path / "all.npz",), DIGITS)
    four = read_mnist_like(tuple(paths), DIGITS)
    assert one.X.equals(four.X)
    assert four.y.tolist() == labels.tolist()
    assert four.n_train == 3
    paths[0].write_bytes(gzip.compress(b"not idx"))
    with pytest.raises(InputError, match="no idx file"):
        read_mnist_like(tuple(paths), DIGITS)


def write_svhn(folder: Path, images: np.ndarray, labels: np.ndarray, n_train: int) -> list[Path]:
    """As published: images along the last axis, digit 0 written as 10."""
    paths = []
    for name, part in (("train", slice(0, n_train)), ("test", slice(n_train, None))):
        paths.append(folder / f"{name}_32x32.mat")
        y = np.where(labels[part] == 0, 10, labels[part]).astype(np.uint8)[:, None]
        savemat(paths[-1], {"X": images[part].transpose(1, 2, 3, 0), "y": y})
    return paths


def test_svhn_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = RNG.integers(0, 256, size=(6, 32, 32, 3), dtype=np.uint8)
    labels = np.array([0, 9, 1, 0, 5, 2])
    raw = read_svhn(tuple(write_svhn(tmp_path, images, labels, 4)))
    assert raw.y.tolist() == labels.tolist()
    assert raw.X.shape == (6, 64 * 48)
    assert raw.n_train == 4
    assert raw.X["patch_7_7.47"].iloc[5] == np.float32(images[5, 31, 31, 2]) / np.float32(255)
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    assert dataset_info("svhn").at_hand
    with pytest.raises(InputError, match=r"not the file of data set 'svhn': it has 6 rows where"):
        load_dataset("svhn")


def write_pcam(folder: Path, images: np.ndarray, labels: np.ndarray, zipped: bool) -> list[Path]:
    paths = []
    for i, part in enumerate(("train", "valid", "test")):
        for key, array in (("x", images[i::3]), ("y", labels[i::3, None, None, None])):
            path = folder / f"camelyonpatch_level_2_split_{part}_{key}.h5"
            with h5py.File(path, "w") as file:
                file[key] = array
            if zipped:
                path.with_suffix(".h5.gz").write_bytes(gzip.compress(path.read_bytes()))
                path.unlink()
                path = path.with_suffix(".h5.gz")
            paths.append(path)
    return paths


@pytest.mark.parametrize("zipped", [False, True])
def test_pcam_files(zipped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache")
    images = RNG.integers(0, 256, size=(12, 96, 96, 3), dtype=np.uint8)
    labels = np.array([0, 1] * 6, dtype=np.uint8)
    paths = tuple(write_pcam(tmp_path, images, labels, zipped))
    pooled = np.concatenate([np.arange(i, 12, 3) for i in range(3)])
    everything = read_pcam(paths)
    assert everything.y.tolist() == labels[pooled].tolist()
    assert everything.n_train == 4
    grey = images[pooled].astype(float).mean(axis=-1) / 255
    assert np.allclose(everything.X, PCAM_GRID.cut(grey), atol=1e-6)
    some = read_pcam(paths, n_rows=6)
    assert np.bincount(some.y).tolist() == [3, 3]
    rows = [np.flatnonzero((row == everything.X).all(axis=1)) for row in some.X.to_numpy()]
    assert np.concatenate(rows).tolist() == sorted(np.concatenate(rows))
    assert len(np.concatenate(rows)) == 6


def test_a_sample_of_other_files_than_pcams_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size alone would not tell, since any large file has so many rows."""
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    images, labels = np.zeros((60_000, 1), np.uint8), np.arange(60_000, dtype=np.uint8) % 2
    write_pcam(tmp_path, images, labels, zipped=False)
    with pytest.raises(InputError, match=r"\(20000, 20000, 20000\) images where \(262144, 32768"):
        load_dataset("pcam")


def test_images_of_another_size_are_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(32, 32\) where \(28, 28\) is known"):
        PatchGrid(7, 7, 4).cut(np.zeros((1, 32, 32)))


@pytest.mark.parametrize("content", [b"", b"no image at all" * 99, b"PK\x03\x04" + b"x" * 99])
@pytest.mark.parametrize("name", ["mnist", "fashion_mnist", "svhn", "pcam", "imagenette"])
def test_damaged_files_are_told_in_one_sentence(
    name: str, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pooch.os_cache", lambda _: tmp_path / "cache")
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    for file in dataset_info(name).files[-1]:
        path = tmp_path / file.name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    with pytest.raises(InputError, match=f"is not the file of data set '{name}'") as error:
        load_dataset(name)
    assert "\n" not in str(error.value)
