"""Imagenette from JPEG files: order, crop, cache; and the network behind its features."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional

from hyperdfs.datasets import dataset_info, load_dataset
from hyperdfs.datasets.imagenette import _decode, read_imagenette
from hyperdfs.errors import InputError
from hyperdfs.nn.resnet import DEVIATION, MEAN, FrozenFeatures, ResNet18

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
    network = ResNet18()
    state = network.state_dict()
    for key in state:
        if key.endswith("running_var"):
            state[key] = torch.rand_like(state[key]) + 0.5
        elif key.endswith("running_mean"):
            state[key] = torch.randn_like(state[key]) * 0.1
    path = tmp_path_factory.mktemp("weights") / "resnet18-f37072fd.pth"
    torch.save({**state, "fc.weight": torch.zeros(1000, 512), "fc.bias": torch.zeros(1000)}, path)
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


def test_the_network_has_the_published_shape() -> None:
    state = ResNet18().state_dict()
    parameters = sum(p.numel() for p in ResNet18().parameters())
    assert parameters == 11_689_512 - 513_000  # the published total without the classifier
    assert state["layer2.0.downsample.0.weight"].shape == (128, 64, 1, 1)
    assert state["layer4.1.bn2.running_var"].shape == (512,)
    assert len([key for key in state if key.endswith("conv1.weight")]) == 9
    assert not [key for key in state if key.startswith("layer1.0.downsample")]


def textbook(state: dict[str, Tensor], x: Tensor) -> Tensor:
    """ResNet-18 spelled out with plain functions."""

    def conv(x: Tensor, name: str, stride: int = 1) -> Tensor:
        kernel = state[f"{name}.weight"]
        return functional.conv2d(x, kernel, stride=stride, padding=kernel.shape[-1] // 2)

    def norm(x: Tensor, name: str) -> Tensor:
        parts = ("running_mean", "running_var", "weight", "bias")
        mean, var, scale, shift = (state[f"{name}.{part}"][:, None, None] for part in parts)
        return (x - mean) / torch.sqrt(var + 1e-5) * scale + shift

    x = torch.relu(norm(conv(x, "conv1", 2), "bn1"))
    x = functional.max_pool2d(x, 3, 2, 1)
    for layer in range(1, 5):
        for block in range(2):
            at = f"layer{layer}.{block}"
            stride = 2 if layer > 1 and block == 0 else 1
            y = torch.relu(norm(conv(x, f"{at}.conv1", stride), f"{at}.bn1"))
            y = norm(conv(y, f"{at}.conv2"), f"{at}.bn2")
            if stride == 2:
                x = norm(conv(x, f"{at}.downsample.0", 2), f"{at}.downsample.1")
            x = torch.relu(x + y)
    return x


def test_the_network_equals_the_textbook(weights: Path) -> None:
    images = np.random.default_rng(1).integers(0, 256, (2, 128, 128, 3), dtype=np.uint8)
    x = (torch.from_numpy(images) / 255 - torch.tensor(MEAN)) / torch.tensor(DEVIATION)
    state = torch.load(weights, weights_only=True)
    maps = textbook(state, x.permute(0, 3, 1, 2))
    assert maps.shape == (2, 512, 4, 4)
    found = FrozenFeatures(weights, 5)(images)
    # Cell (0, 0) of a 5×5 grid over a 4×4 map is its corner, cell (2, 2) the middle 2×2.
    assert np.allclose(found[:, 0], maps[:, :, 0, 0], rtol=1e-3, atol=1e-4)
    middle = maps[:, :, 1:3, 1:3].mean(dim=(2, 3))
    assert np.allclose(found[:, 12], middle, rtol=1e-3, atol=1e-4)
    # Row by row: cell (0, 4) is the upper right corner.
    assert np.allclose(found[:, 4], maps[:, :, 0, 3], rtol=1e-3, atol=1e-4)
