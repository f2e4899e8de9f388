"""The frozen network: torchvision's names and shapes, and the textbook's values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from hyperdfs.nn.resnet import DEVIATION, MEAN, FrozenFeatures, ResNet18


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
