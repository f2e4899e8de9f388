"""EDDI's criterion: how much a purchase is expected to tell about y, by way of the latent z."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.eddi import Normal, PartialVAE, kl
from hyperdfs.training.prices import per_cost

SEED = 1
WORK = 40_000  # encoder inputs at a time
SCREEN = 64  # candidates that are weighed with every sample
COARSE = 4  # samples that decide which ones these are


def information_reward(
    encode: Callable[[Tensor], Normal], known: Tensor, bought: Tensor, label: Tensor
) -> Tensor:
    """EDDI's reward of each candidate: ``(n, M)``, an estimate of I(x_i ; y | x_S).

    ``E KL(q(z|x_i,x_S) ‖ q(z|x_S)) - E KL(q(z|x_i,x_S,y) ‖ q(z|x_S,y))``: what x_i tells about z,
    less what of it would be news even to someone who knows y.

    known : (n, K) sum of what is known; bought : (n, S, M, K) what each candidate would add in
    each sample; label : (n, S, K) what y would add in it.
    """
    before = known.unsqueeze(1)
    informed = before + label
    gain = kl(encode(before.unsqueeze(2) + bought), _each(encode(before)))
    rest = kl(encode(informed.unsqueeze(2) + bought), _each(encode(informed)))
    return (gain - rest).mean(1)


def _each(belief: Normal) -> Normal:
    """The same belief for every candidate."""
    return Normal(belief.mean.unsqueeze(2), belief.log_var.unsqueeze(2))


class EDDISelector:
    """Scores of `information_reward`, x_i and y being drawn from the decoder.

    All rows and purchases share the same random numbers, so that a row's scores depend on nothing
    else and candidates are compared on equal terms. Where there are more than `SCREEN` features,
    `COARSE` samples decide which of them are weighed with all.

    fitted : "values" (V, D), results that occur in training, feature by feature; "distinct"
        (V, M), 0 where a feature has fewer of them; "relative" (M,), price over mean price. The
        decoder's normal distribution of a feature is restricted to these values, so that a
        category is never drawn as half of one and half of another.
    """

    def __init__(
        self, vae: PartialVAE, fitted: Arrays, *, latent: int, samples: int, sd: float
    ) -> None:
        self.vae, self.fitted, self._sd = vae, fitted, sd
        generator = torch.Generator().manual_seed(SEED)
        self._latent = torch.randn(samples, latent, generator=generator)
        self._value = torch.rand(samples, vae.n_features, 1, generator=generator)
        self._class = torch.rand(samples, 1, generator=generator)

    @torch.inference_mode()
    def scores(self, x: Tensor, mask: Tensor) -> Tensor:
        """``(n, D)`` with zeros where unknown, ``(n, M)`` -> ``(n, M)``; the highest is next."""
        if len(x) > 1 and not mask.any():  # nothing known: one answer for all
            return self.scores(x[:1], mask[:1]).expand(len(x), -1)
        weighed = len(self._latent) * min(SCREEN, mask.shape[1]) + COARSE * mask.shape[1]
        size = max(1, WORK // weighed)
        pairs = zip(x.split(size), mask.split(size), strict=True)
        reward = torch.cat([self._reward(known, bits) for known, bits in pairs])
        return per_cost(reward, self.fitted.get("relative").to(reward))

    def _reward(self, x: Tensor, mask: Tensor) -> Tensor:
        known = self.vae.gather(x, mask)
        bought, label = self._draw(self.vae.encode(known))
        if mask.shape[1] <= SCREEN:
            return information_reward(self.vae.encode, known, bought, label)
        coarse = information_reward(self.vae.encode, known, bought[:, :COARSE], label[:, :COARSE])
        best = coarse.masked_fill(mask > 0, -torch.inf).topk(SCREEN, 1).indices
        index = best[:, None, :, None].expand(-1, bought.shape[1], -1, bought.shape[3])
        fine = information_reward(self.vae.encode, known, bought.gather(2, index), label)
        # What was not weighed closely comes after what was, in its coarse order.
        rest = coarse.scatter(1, best, -torch.inf)
        rest = rest - rest.amax(1, keepdim=True) + fine.amin(1, keepdim=True) - 1e-6
        return rest.scatter(1, best, fine)

    def _draw(self, belief: Normal) -> tuple[Tensor, Tensor]:
        """Contributions of every feature ``(n, S, M, K)`` and of y ``(n, S, K)`` in each sample."""
        device = belief.mean.device
        each = Normal(belief.mean.unsqueeze(1), belief.log_var.unsqueeze(1))
        z = each.at(self._latent.to(device))
        means, logits = self.vae.decode(z)
        chances = torch.softmax(logits, -1)
        drawn = (chances.cumsum(-1) < self._class.to(device).unsqueeze(0)).sum(-1)
        label: Tensor = self.vae.labels(drawn.clamp_max(chances.shape[-1] - 1))
        return self._draw_values(means), label

    def _draw_values(self, means: Tensor) -> Tensor:
        """Contributions of drawn results, given the decoder's means ``(n, S, D)``."""
        values, distinct = self.fitted.get("values"), self.fitted.get("distinct")
        closeness = torch.stack(
            [self.vae.per_feature(-(means - v).square() / (2 * self._sd**2)) for v in values], -1
        )
        chances = torch.softmax(closeness.masked_fill(distinct.T == 0, -torch.inf), -1)
        last = chances.shape[-1] - 1
        drawn = (chances.cumsum(-1) < self._value.to(means.device)).sum(-1).clamp_max(last)
        elements = self.vae.elements(values)  # (V, M, K)
        return elements[drawn, torch.arange(elements.shape[1], device=means.device)]
