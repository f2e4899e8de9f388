"""Networks of SEFA: a stochastic encoder of its own for each feature, and a predictor on top."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from hyperdfs.nn.members import MemberLinear
from hyperdfs.nn.mlp import MLP

LEAST_SPREAD = 1e-3  # of a latent
CHUNK = 2**22  # latents drawn at a time


class FeatureEncoders(nn.Module):
    """M independent networks, ``(x_j, m_j) -> N(mu_j, sd_j²)`` with `latent` numbers each.

    A feature may have several columns; its network sees these and its bit of the mask, and nothing
    of the other features. Widths are filled up to the widest, and all run as one batched product.

    **Shape**: ``(n, D), (n, M) -> mu and sd, (n, M * latent)``
    """

    columns: Tensor

    def __init__(
        self, column_group: Sequence[int], n_features: int, *, hidden: Sequence[int], latent: int
    ) -> None:
        super().__init__()
        group = np.asarray(column_group)
        sizes = np.bincount(group, minlength=n_features)
        columns = np.full((n_features, int(sizes.max())), len(group))  # one past the last: a 0
        for feature, size in enumerate(sizes):
            columns[feature, :size] = np.flatnonzero(group == feature)
        self.register_buffer("columns", torch.from_numpy(columns), persistent=False)
        widths = (columns.shape[1] + 1, *hidden)
        self.layers = nn.ModuleList(MemberLinear(n_features, a, b) for a, b in pairwise(widths))
        with torch.no_grad():  # a narrow feature starts as if nothing had been filled up
            filled = torch.from_numpy(widths[0] / (sizes + 1.0)).sqrt().float()
            self.layers[0].weight.mul_(filled.view(-1, 1, 1))  # type: ignore[operator]
        self.norms = nn.ModuleList(nn.BatchNorm1d(n_features * width) for width in hidden)
        self.heads = nn.ModuleList(MemberLinear(n_features, widths[-1], latent) for _ in range(2))
        self.head_norms = nn.ModuleList(nn.BatchNorm1d(n_features * latent) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        padded = torch.cat([x, x.new_zeros(len(x), 1)], 1)[:, self.columns]
        h = torch.cat([padded, mask.unsqueeze(-1)], -1)  # (n, M, columns + 1)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            h = torch.relu(norm(_each(layer, h))).view(len(x), mask.shape[1], -1)
        mu, sd = (
            norm(_each(head, h)) for head, norm in zip(self.heads, self.head_norms, strict=True)
        )
        return mu, nn.functional.softplus(sd) + LEAST_SPREAD


def _each(layer: nn.Module, h: Tensor) -> Tensor:
    """Each feature through its own weights: ``(n, M, a) -> (n, M * b)``."""
    return layer(h.transpose(0, 1)).transpose(0, 1).flatten(1)


class SefaNet(nn.Module):
    """``p(y | x_S) = mean_z softmax(predictor(z))`` with z drawn from the features' encoders."""

    def __init__(
        self,
        column_group: Sequence[int],
        n_features: int,
        n_classes: int,
        *,
        encoder_hidden: Sequence[int] = (20, 20),
        latent: int = 4,
        predictor_hidden: Sequence[int] = (100, 100),
    ) -> None:
        super().__init__()
        self.n_features, self.latent = n_features, latent
        self.encoders = FeatureEncoders(
            column_group, n_features, hidden=encoder_hidden, latent=latent
        )
        self.predictor = MLP(n_features * latent, n_classes, hidden=predictor_hidden, norm="batch")

    def draws(self, mu: Tensor, sd: Tensor, noise: Tensor) -> Tensor:
        """``z = mu + sd * noise``: (n, L) and noise (S, L) or (S, n, L) -> (S, n, L)."""
        return mu + sd * (noise.unsqueeze(1) if noise.dim() == 2 else noise)

    def log_proba(self, z: Tensor) -> Tensor:
        """Log of the mean prediction over the draws: ``(S, n, L) -> (n, C)``."""
        each = torch.log_softmax(self.predictor(z.flatten(0, 1)), -1).view(*z.shape[:2], -1)
        return torch.logsumexp(each, 0) - math.log(len(z))

    def relevance(self, z: Tensor) -> Tensor:
        """SEFA's score of each feature, which sums to 1 over them: ``(S, n, L) -> (n, M)``.

        ``sum_c p̄_c mean_s r_sjc``, where r_sjc is the length of the gradient of p_c with respect to
        block j of the draw z_s, as a share of the lengths of all blocks. Where the prediction is
        flat, a draw says nothing of any feature: equal shares.
        """
        logits, slopes = _forward(self.predictor, z.flatten(0, 1))
        proba = torch.softmax(logits, -1)
        mean = proba.view(*z.shape[:2], -1).mean(0)
        classes = range(proba.shape[1])
        score = z.new_zeros(z.shape[1], self.n_features)
        # The gradients of two classes are opposite, so their lengths are the same.
        for c in classes if len(classes) > 2 else classes[:1]:
            # d p_c / d logits without its factor p_c, which the shares do not see.
            grad = -proba
            grad[:, c] += 1.0
            grad = _backward(self.predictor, grad, slopes)
            length = torch.linalg.vector_norm(grad.view(len(grad), -1, self.latent), dim=-1)
            total = length.sum(1, keepdim=True)
            share = torch.where(total > 0, length / total, 1.0 / self.n_features)
            weight = mean[:, c : c + 1] if len(classes) > 2 else 1.0
            score += weight * share.view(*z.shape[:2], -1).mean(0)
        return score


def _forward(mlp: MLP, z: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Logits, and for each hidden unit the slope of its norm and ReLU; in evaluation mode."""
    slopes: list[Tensor] = []
    scale: Tensor | None = None
    for layer in mlp.body:
        z = layer(z)
        if isinstance(layer, nn.BatchNorm1d):
            assert layer.running_var is not None
            scale = layer.weight * torch.rsqrt(layer.running_var + layer.eps)
        elif isinstance(layer, nn.ReLU):
            assert scale is not None
            slopes.append((z > 0) * scale)
    return mlp.head(z), slopes


def _backward(mlp: MLP, grad: Tensor, slopes: list[Tensor]) -> Tensor:
    """From the gradient of the logits to that of the input.

    By hand, because purchases run without autograd, and this keeps nothing but the slopes.
    """
    grad = grad @ mlp.head.weight
    linear = [layer for layer in mlp.body if isinstance(layer, nn.Linear)]
    for layer, slope in zip(reversed(linear), reversed(slopes), strict=True):
        grad = (grad * slope) @ layer.weight
    return grad


def antithetic_noise(n_draws: int, size: int) -> Tensor:
    """The same standard normal draws in every call, each with its opposite: ``(n_draws, size)``.

    All rows share them, so that no row's result depends on the others of its batch.
    """
    half = torch.randn((n_draws + 1) // 2, size, generator=torch.Generator().manual_seed(0))
    return torch.cat([half, -half])[:n_draws]


def latent_draws(net: SefaNet, x: Tensor, mask: Tensor, n_draws: int) -> Iterator[Tensor]:
    """Draws of the latents of what is known, ``(n_draws, rows, L)``, a few rows at a time."""
    size = net.n_features * net.latent
    rows = max(1, CHUNK // (n_draws * size))
    noise = antithetic_noise(n_draws, size).to(x.device)
    for known, bits in zip(x.split(rows), mask.split(rows), strict=True):
        mu, sd = net.encoders(known, bits)
        yield net.draws(mu, sd, noise)
