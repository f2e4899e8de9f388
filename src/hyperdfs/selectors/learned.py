"""The selector of Hyper-DFS: a small network scores every feature from what is known."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.scoring import ScoreNet


class LearnedSelector:
    """Scores of a trained `ScoreNet`."""

    def __init__(self, net: ScoreNet) -> None:
        self.net = net

    @torch.inference_mode()
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        scores: Tensor = self.net(x, mask)
        return scores
