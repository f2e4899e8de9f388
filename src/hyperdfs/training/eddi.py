"""Training of EDDI's partial VAE, and the values that its purchases can have."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from hyperdfs.masks import MaskSampler
from hyperdfs.nn.eddi import Normal, PartialVAE, kl
from hyperdfs.training.data import Rows
from hyperdfs.training.loop import History, Progress
from hyperdfs.training.masked import Recipe, Validate, fit_masked, observe

SHOWN = 0.5  # share of the rows whose y the encoder sees
MOST_ROWS = 2000  # that values are taken from
CHECKS = 8  # subsets per validation row


class PartialELBO:
    """Negative evidence lower bound of rows of which a subset is known, per feature.

    ``-Σ_{j in S} ln N(x_j; μ_j(z), sd²) - w ln p(y | z) + KL(q(z|x_S[,y]) ‖ N(0, I))``. The columns
    of one feature share one likelihood term, so that a category of many values does not outweigh
    the rest.

    sampler : names the subsets that are withheld from training, if any.
    kl_weight : 1 for the bound; less lets the latent say more.
    """

    def __init__(
        self,
        vae: PartialVAE,
        sampler: MaskSampler,
        *,
        sd: float,
        y_weight: float,
        latent: int,
        kl_weight: float = 1.0,
    ) -> None:
        self._vae, self._sampler = vae, sampler
        self._sd, self._y_weight, self._latent = sd, y_weight, latent
        self._kl_weight = kl_weight

    def __call__(self, rows: Rows, masks: Tensor, generator: torch.Generator) -> Tensor:
        """``(n, M)`` masks -> a scalar; what is drawn comes from `generator`."""
        n, vae = len(rows), self._vae
        known = observe(rows, masks, self._sampler)
        device = known.x.device
        noise = torch.randn(n, self._latent, generator=generator).to(device)
        shown = (torch.rand(n, 1, generator=generator) < SHOWN).to(device)
        label = torch.multinomial(rows.target.cpu(), 1, generator=generator)[:, 0].to(device)
        total = vae.gather(known.x, known.mask) + vae.labels(label) * shown
        belief = vae.encode(total)
        means, logits = vae.decode(belief.at(noise))
        misfit = vae.per_feature((rows.x - means).square()) / (2 * self._sd**2)
        # A row whose y is an input is scored by that y, not by the odds of others.
        target = torch.where(shown, nn.functional.one_hot(label, logits.shape[1]), rows.target)
        surprise = -(target * logits.log_softmax(-1)).sum(-1)
        prior = Normal(torch.zeros_like(belief.mean), torch.zeros_like(belief.log_var))
        bound = (misfit * known.mask).sum(-1) + self._y_weight * surprise
        bound = bound + self._kl_weight * kl(belief, prior)
        return (bound * known.weight).mean() / vae.n_features


def fit_vae(
    vae: PartialVAE,
    train: Rows,
    valid: Rows,
    elbo: PartialELBO,
    sampler: MaskSampler,
    recipe: Recipe,
    *,
    stage: str,
    generator: torch.Generator,
    progress: Progress,
) -> History:
    """Train on random subsets, with and without y; keep the epoch of the best bound on `valid`."""

    def loss(batch: Rows, epoch: int) -> Tensor:
        return elbo(batch, sampler.sample(len(batch)), generator)

    return fit_masked(
        vae,
        train,
        loss,
        _check(elbo, valid, sampler, generator),
        recipe,
        stage=stage,
        generator=generator,
        progress=progress,
    )


def _check(
    elbo: PartialELBO, valid: Rows, sampler: MaskSampler, generator: torch.Generator
) -> Validate:
    """The bound on `valid` with the same subsets and draws in every epoch."""
    masks = [sampler.sample(len(valid)) for _ in range(CHECKS)]
    seed = int(torch.randint(2**62, (), generator=generator))

    def validate() -> float:
        same = torch.Generator().manual_seed(seed)
        return float(torch.stack([elbo(valid, mask, same) for mask in masks]).mean())

    return validate


@torch.inference_mode()
def latent_nats(vae: PartialVAE, rows: Rows) -> float:
    """What the latent says about a row of which all is known: mean KL from the prior."""
    known = observe(rows, rows.available())
    belief = vae.encode(vae.gather(known.x, known.mask))
    prior = Normal(torch.zeros_like(belief.mean), torch.zeros_like(belief.log_var))
    return float(kl(belief, prior).mean())


def occurring_values(
    train: Rows, groups: np.ndarray, count: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Up to `count` distinct results of each feature: values ``(V, D)``, distinct ``(V, M)``.

    Numbers are spread evenly over their range, since the decoder's distribution is a density;
    features of several columns give their most frequent results. Short lists repeat the first
    result, and `distinct` is 0 there.
    """
    rows = torch.randperm(len(train), generator=generator)[:MOST_ROWS]
    x, available = train.x.cpu()[rows].numpy(), train.available().cpu()[rows].numpy()
    values = np.zeros((count, x.shape[1]), np.float32)
    distinct = np.zeros((count, available.shape[1]), np.float32)
    for feature in range(available.shape[1]):
        columns = np.flatnonzero(groups == feature)
        seen = x[available[:, feature] > 0][:, columns]
        if not len(seen):  # missing in every row: 0 is as good a guess as any
            seen = np.zeros((1, len(columns)), np.float32)
        found, times = np.unique(seen, axis=0, return_counts=True)
        chosen = _spread(found[:, 0], count) if len(columns) == 1 else _most(times, count)
        values[:, columns] = found[chosen[0]]
        values[: len(chosen), columns] = found[chosen]
        distinct[: len(chosen), feature] = 1.0
    return torch.from_numpy(values), torch.from_numpy(distinct)


def _spread(ordered: np.ndarray, count: int) -> np.ndarray:
    """Indices of the entries next to an even grid over the range."""
    grid = np.linspace(ordered[0], ordered[-1], count)
    return np.unique(np.abs(ordered[None, :] - grid[:, None]).argmin(1))


def _most(times: np.ndarray, count: int) -> np.ndarray:
    return np.argsort(-times, kind="stable")[:count]
