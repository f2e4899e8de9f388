"""Imagenette from JPEG files: order, crop and cache."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from hyperdfs.datasets import dataset_info, load_dataset
from hyperdfs.datasets.imagenette import _decode, read_imagenette
from hyperdfs.errors import InputError
from hyperdfs.nn.resnet import FrozenFeatures, ResNet18

IMAGES = {
    "train/n01440764/a.JPEG": (160, 213),
    "train/n03888257/b.JPEG": (240, 160),
    "val/n02102040/c.JPEG": (160, 160),
    "val/n01440764/d.JPEG": (80, 96),
}


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights in torchvision's file format, classifier included."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("weights") / "resnet18-f37072fd.pth"
    torch.save({**ResNet18().state_dict(), "fc.weight": torch.zeros(1000, 512)}, path)
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the images; the cache is empty."""
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache" / name)
    rng = np.random.default_rng(0)
    home = tmp_path / "imagenette2-160"
    for name, size in IMAGES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (*size, 3), dtype=np.uint8)).save(path, "JPEG")
    # ImageNet has some grey pictures.
    Image.open(home / "val/n01440764/d.JPEG").convert("L").save(home / "val/n01440764/d.JPEG")
    return home


def test_features_of_a_folder(folder: Path, weights: Path) -> None:
    raw = read_imagenette((folder, weights))
    assert raw.X.shape == (4, 25 * 512)
    assert raw.features is not None
    assert len(raw.features) == 25
    assert raw.y.tolist() == [0, 9, 0, 1]  # train before val, by class, by name
    assert raw.n_train == 2
    assert raw.class_names[9] == "parachute"
    network = FrozenFeatures(weights, 5)
    expected = network(_decode(folder / "val/n01440764/d.JPEG")[None])[0]
    assert np.allclose(raw.X.iloc[2].to_numpy().reshape(25, 512), expected, atol=1e-4)


def test_an_archive_gives_the_same(folder: Path, weights: Path) -> None:
    path = folder.parent / "imagenette2-160.tgz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, "imagenette2-160")
    assert read_imagenette((path, weights)).X.equals(read_imagenette((folder, weights)).X)


def test_features_are_computed_once(folder: Path, weights: Path) -> None:
    first = read_imagenette((folder, weights))
    kept = list((folder.parent / "cache" / "hyperdfs").iterdir())
    assert len(kept) == 1
    before = kept[0].stat().st_mtime_ns
    assert read_imagenette((folder, weights)).X.equals(first.X)
    assert kept[0].stat().st_mtime_ns == before
    (folder / "val/n02102040/c.JPEG").unlink()  # other images, other features
    assert len(read_imagenette((folder, weights)).X) == 3


def test_short_side_then_centre(tmp_path: Path) -> None:
    x, y = np.meshgrid(np.arange(320), np.arange(480))
    picture = np.stack([x // 2, y // 2, 0 * x], axis=-1).astype(np.uint8)
    Image.fromarray(picture).save(tmp_path / "a.png")
    cropped = _decode(tmp_path / "a.png").astype(int)
    assert cropped.shape == (128, 128, 3)
    # 320×480 becomes 160×240, of which columns 16..143 and rows 56..183 remain.
    assert abs(cropped[0, :, 0] - np.arange(16, 144)).max() <= 1
    assert abs(cropped[:, 0, 1] - np.arange(56, 184)).max() <= 1


def test_wrong_files(
    folder: Path, weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"SHA-256 of resnet18-f37072fd.pth must be"):
        read_imagenette((folder, weights), "0" * 64)
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    (tmp_path / weights.name).write_bytes(weights.read_bytes())
    assert dataset_info("imagenette").at_hand
    with pytest.raises(InputError, match="not the file of data set 'imagenette': the SHA-256"):
        load_dataset("imagenette")
    other = tmp_path / "other.pth"
    torch.save({"layer": torch.zeros(1)}, other)
    with pytest.raises(InputError, match=r"other.pth does not hold the weights"):
        read_imagenette((folder, other))
    other.write_bytes(b"no weights")
    with pytest.raises(InputError, match=r"other.pth does not hold the weights"):
        read_imagenette((folder, other))
    (folder / "val/n01440764").rename(folder / "val/n00000001")
    with pytest.raises(InputError, match=r"n00000001/d.JPEG belongs to no class"):
        read_imagenette((folder, weights))
    with pytest.raises(InputError, match=r"holds no train"):
        read_imagenette((folder / "train", weights))
