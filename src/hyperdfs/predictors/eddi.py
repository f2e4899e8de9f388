"""EDDI's predictor: the label head of the partial VAE, averaged over the latent."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.eddi import PartialVAE

CHUNK = 1024  # rows at a time
SEED = 0


class VAEPredictor:
    """``p(y | x_S) = E_q(z|x_S) softmax(decoder(z))``, by the same draws for every row."""

    def __init__(self, vae: PartialVAE, *, latent: int, samples: int) -> None:
        self.vae = vae
        generator = torch.Generator().manual_seed(SEED)
        half = torch.randn(-(-samples // 2), 1, latent, generator=generator)
        self._noise = torch.cat([half, -half])  # in pairs: the mean of z is then exact

    @torch.inference_mode()
    def proba(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, C)``."""
        noise = self._noise.to(x.device)
        parts = []
        for known, bits in zip(x.split(CHUNK), mask.split(CHUNK), strict=True):
            z = self.vae.encode(self.vae.gather(known, bits)).at(noise)
            parts.append(torch.softmax(self.vae.decode(z)[1], -1).mean(0))
        return torch.cat(parts)
