"""ResNet-18 up to its last feature map: images as a grid of features of a frozen network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

# Mean and deviation of ImageNet's red, green and blue, which the weights were trained with.
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)
CHANNELS = 512


class Block(nn.Module):
    """Two 3×3 convolutions and a shortcut around them (He et al. 2016)."""

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(n_out)
        self.downsample: nn.Module = nn.Identity()
        if stride != 1 or n_in != n_out:
            self.downsample = nn.Sequential(
                nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(y)) + self.downsample(x))


class ResNet18(nn.Module):
    """The trunk of ResNet-18; its modules bear torchvision's names, so that its weights fit.

    Shape: ``(n, 3, h, w)`` normalised images to ``(n, 512, ⌈h/32⌉, ⌈w/32⌉)``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.layer1 = nn.Sequential(Block(64, 64, 1), Block(64, 64, 1))
        self.layer2 = nn.Sequential(Block(64, 128, 2), Block(128, 128, 1))
        self.layer3 = nn.Sequential(Block(128, 256, 2), Block(256, 256, 1))
        self.layer4 = nn.Sequential(Block(256, CHANNELS, 2), Block(CHANNELS, CHANNELS, 1))

    def forward(self, x: Tensor) -> Tensor:
        x = functional.relu(self.bn1(self.conv1(x)))
        x = functional.max_pool2d(x, 3, stride=2, padding=1)
        return self.layer4(self.layer3(self.layer2(self.layer1(x))))


class FrozenFeatures:
    """Images to a grid of feature vectors, by the weights in a file of torchvision's format."""

    def __init__(self, weights: Path, grid: int) -> None:
        state = torch.load(weights, map_location="cpu", weights_only=True)
        self._network = ResNet18()
        # The classifier on top is not used here.
        self._network.load_state_dict({k: v for k, v in state.items() if not k.startswith("fc.")})
        self._network.eval()
        self._grid = grid

    @torch.inference_mode()
    def __call__(self, images: np.ndarray) -> np.ndarray:
        """Shape: ``(n, h, w, 3)`` bytes to ``(n, grid · grid, 512)`` float32, row by row."""
        x = torch.tensor(images).permute(0, 3, 1, 2).float() / 255
        x = (x - torch.tensor(MEAN)[:, None, None]) / torch.tensor(DEVIATION)[:, None, None]
        maps = functional.adaptive_avg_pool2d(self._network(x), self._grid)
        return maps.flatten(2).transpose(1, 2).contiguous().numpy()
