"""Losses of the two stages."""

from __future__ import annotations

import torch
from torch import Tensor

from hyperdfs.nn.hyper import HyperNet, Output


def cross_entropy(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """Weighted mean over the rows, per member: ``(E, ..., C), (..., C), (...) -> (E,)``."""
    loss = -(torch.log_softmax(logits, -1) * target).sum(-1) * weight
    return loss.flatten(1).mean(1)


def scale_loss(net: HyperNet, code: Tensor) -> Tensor:
    """L_scale: mean square of each layer's generated weights against the Xavier target 1/d_in.

    ``|theta|^2 = code' G code`` with the layer's Gram matrix; (E,).
    """
    total = torch.zeros(code.shape[0], device=code.device)
    for layer in net.layers():
        size = (layer.n_in + 1) * layer.n_out
        mean_square = ((code @ layer.gram()) * code).sum(-1) / size
        total = total + (mean_square - 1.0 / layer.n_in).square().mean(1)
    return total


def collapse_loss(net: HyperNet, out: Output) -> Tensor:
    """L_collapse = -mean Var[z̃_j] - mean Var[theta_k] over the masks of the batch; (E,).

    ``sum_k Var[theta_k] = tr(G Cov(code))``. Clipped where the weights exceed ten times their
    target, because the second term has no lower bound.
    """
    spread = out.condition.var(1, unbiased=False).mean(-1)
    centred = out.code - out.code.mean(1, keepdim=True)
    covariance = centred.mT @ centred / out.code.shape[1]
    size = sum((layer.n_in + 1) * layer.n_out for layer in net.layers())
    target = sum(layer.n_out for layer in net.layers()) / size
    variance = sum((layer.gram() * covariance).sum((1, 2)) for layer in net.layers()) / size
    return -spread - torch.clamp(torch.as_tensor(variance), max=10.0 * target)
