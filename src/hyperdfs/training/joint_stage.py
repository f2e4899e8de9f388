"""Stage 2: selector and predictor jointly, through whole trajectories of purchases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from hyperdfs.acquisition import Predictor, Selector
from hyperdfs.config import HyperConfig
from hyperdfs.masks import MaskSampler
from hyperdfs.nn.hyper import HyperNet, SubsetNet
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.training.data import Rows, shuffled_batches
from hyperdfs.training.loop import BestWeights, History, Progress, RunningMean, Trainer
from hyperdfs.training.losses import collapse_loss, cross_entropy
from hyperdfs.training.policy_scores import policy_scores
from hyperdfs.training.predictor_stage import Subsets, batch_multiple
from hyperdfs.training.purchases import gumbel_purchases
from hyperdfs.training.start_order import lookahead_order, start_from


@dataclass
class JointStep:
    """The loss of one stage-2 batch."""

    net: SubsetNet
    selector: ScoreNet
    config: HyperConfig
    sampler: MaskSampler
    max_budget: int
    price: Tensor  # (M,) extra loss for buying a feature; zeros when all cost the same
    generator: torch.Generator

    def loss(self, rows: Rows, temperature: float) -> Tensor:
        """Cross-entropy after ``tau ~ U{1..B}`` purchases, plus that of random subsets; (E,)."""
        config = self.config
        lengths = torch.randint(1, self.max_budget + 1, (len(rows),), generator=self.generator)
        lengths = lengths.sort(descending=True).values
        mask = gumbel_purchases(
            self.selector,
            rows.x,
            rows.available(),
            rows.columns,
            lengths,
            temperature=temperature,
            generator=self.generator,
        )
        masks, n = mask.unsqueeze(0), len(rows)
        noise = self.net.noise(n, config.noise, self.generator)
        subsets = None
        if config.replay:  # encoded together with the bought ones
            members, budget = self.net.members, config.masks_per_batch
            subsets = Subsets.draw(members, rows, self.sampler, budget)
            k = subsets.masks.shape[1]
            noise = torch.cat([noise, self.net.noise(k, config.noise, self.generator)], 1)
            masks = torch.cat([masks.expand(members, -1, -1), subsets.masks], 1)
        condition, code = self.net.encode(masks, noise)
        x = (rows.x * rows.columns.expand(mask)).unsqueeze(0)
        out = self.net.rows(x, condition[:, :n], code[:, :n])
        weight = rows.weight
        if self.sampler.held_out:
            weight = weight * ~self.sampler.is_held_out(mask)
        loss = cross_entropy(out.logits, rows.target, weight) + (mask @ self.price).mean()
        if config.collapse_weight and isinstance(self.net, HyperNet):
            loss = loss + config.collapse_weight * collapse_loss(self.net, out)
        if subsets is not None:
            loss = loss + subsets.loss(self.net, condition[:, n:], code[:, n:])[0]
        return loss


def fit_jointly(
    net: SubsetNet,
    selector: ScoreNet,
    train: Rows,
    valid: Rows,
    config: HyperConfig,
    *,
    predictor: Predictor,
    policy: Selector,
    sampler: MaskSampler,
    max_budget: int,
    price: Tensor,
    batch_size: int,
    learning_rate: float,
    generator: torch.Generator,
    progress: Progress,
) -> History:
    """Train both networks; keep the epoch whose deterministic policy does best on `valid`.

    A selector whose weights are frozen stays as it is, and the predictor learns its purchases.
    """
    multiple = batch_multiple(config.masks_per_batch, len(train)) if config.replay else 1
    epochs, steps = config.stage2_epochs, max(1, round(len(train) / batch_size))
    passes = max(1, round(config.stage2_epoch_steps / steps))
    steps *= passes
    frozen = not any(weight.requires_grad for weight in selector.parameters())
    if config.start_order and not frozen:
        start_from(selector, lookahead_order(net, train, max_budget, price, generator))
    step = JointStep(net, selector, config, sampler, max_budget, price, generator)
    trainer = Trainer(
        [(net, learning_rate, True), (selector, config.selector_lr, False)],
        weight_decay=config.weight_decay,
        clip=config.clip,
        warmup_steps=0,
        total_steps=epochs * steps,
    )
    both = nn.ModuleList([net, selector])
    mean = RunningMean(both, config.average_epochs * steps)
    best = BestWeights(both, 1, config.stage2_patience)
    first, last = config.temperature
    history: History = []
    for epoch in range(epochs):
        temperature = first + (last - first) * epoch / max(1, epochs - 1)
        total, seen = 0.0, 0
        for index in shuffled_batches(
            len(train), batch_size, multiple=multiple, passes=passes, generator=generator
        ):
            loss = step.loss(train.take(index), temperature)
            total, seen = total + float(loss.detach().mean()) * len(index), seen + len(index)
            trainer.step(loss.sum())
            mean.update()
        with mean.applied():
            scored = policy_scores(predictor, policy, valid, max_budget, price)
            loss_and_price = scored.log_loss + scored.paid
            score = loss_and_price if config.select_by == "log_loss" else -scored.f1_macro
            stop = best.update(torch.tensor([np.nan_to_num(score, nan=np.inf)]))
        history.append(
            {
                "stage": 2,
                "epoch": epoch,
                "train_loss": total / seen,
                "valid_loss": scored.log_loss,
                "valid_auac": scored.f1_macro,
                "temperature": temperature,
            }
        )
        progress("selector", epoch + 1, epochs)
        if stop:
            break
    progress("selector", epochs, epochs)
    best.restore()
    return history
