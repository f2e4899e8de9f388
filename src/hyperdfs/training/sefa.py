"""SEFA (Norcliffe et al. 2025): configuration and loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from hyperdfs.config import TableConfig
from hyperdfs.masks import MaskSampler
from hyperdfs.nn.sefa import SefaNet
from hyperdfs.training.data import Rows
from hyperdfs.training.masked import observe


class SefaConfig(TableConfig):
    """Configuration of `sefa`; the defaults are `preset="default"`."""

    latent: int = Field(4, ge=1)  # numbers per feature
    encoder_hidden: tuple[int, ...] | None = None  # None: (20, 20), or (8, 8) above 100 features
    predictor_hidden: tuple[int, ...] = (100, 100)
    bottleneck: float = Field(5e-4, ge=0)  # β, the weight of the latents' divergence from N(0, 1)
    subsets: Literal["short", "all"] = "short"  # half of them up to B_max, or any size
    train_draws: int = Field(20, ge=1)
    draws: int = Field(50, ge=1)  # for predictions and purchases
    epochs: int = Field(100, ge=1)
    patience: int = Field(40, ge=1)
    learning_rate: float = Field(1e-3, gt=0)
    schedule: Literal["cosine", "plateau"] = "cosine"
    weight_decay: float = Field(0.0, ge=0)
    batch_size: int | None = Field(None, ge=2)


@dataclass
class SefaStep:
    """The loss of one batch."""

    net: SefaNet
    config: SefaConfig
    sampler: MaskSampler
    generator: torch.Generator

    def loss(self, rows: Rows, epoch: int) -> Tensor:
        """NLL of the mean prediction over the draws, ``+ β KL(N(mu, sd²) || N(0, 1))``."""
        known = observe(rows, self.sampler.sample(len(rows)), self.sampler)
        mu, sd = self.net.encoders(known.x, known.mask)
        shape = (self.config.train_draws, *mu.shape)
        noise = torch.randn(shape, generator=self.generator).to(mu.device)
        log_proba = self.net.log_proba(self.net.draws(mu, sd, noise))
        surprise = -(log_proba * rows.target).sum(1)
        total = surprise + self.config.bottleneck * divergence(mu, sd)
        return (known.weight * total).mean()


def divergence(mu: Tensor, sd: Tensor) -> Tensor:
    """``KL(N(mu, sd²) || N(0, 1))`` summed over the latents: ``(n, L) -> (n,)``."""
    return 0.5 * (mu.square() + sd.square() - 1.0).sum(1) - sd.log().sum(1)
