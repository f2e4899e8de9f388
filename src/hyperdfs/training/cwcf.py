"""CWCF (Janisch et al. 2019): a Q-network buys features and names the class."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from pydantic import Field
from torch import Tensor

from hyperdfs.config import TableConfig
from hyperdfs.errors import HyperDFSError
from hyperdfs.masks import MaskSampler
from hyperdfs.nn.dueling import DuelingNet
from hyperdfs.training.cwcf_episodes import (
    Environment,
    Episodes,
    Pool,
    allowed_actions,
    greedy_with,
    retrace_targets,
)
from hyperdfs.training.data import Rows
from hyperdfs.training.loop import BestWeights, History, Progress, clip_gradients
from hyperdfs.training.masked import Validate, observe


class CwcfConfig(TableConfig):
    """Configuration of `cwcf`; the defaults are `preset="default"`."""

    hidden: tuple[int, ...] = (128, 128, 128)
    price: float = Field(1e-2, ge=0)  # λ, what a feature of mean cost takes off the reward
    batch_size: int | None = Field(None, ge=2)  # of the pre-training
    pretrain_epochs: int = Field(100, ge=1)
    pretrain_patience: int = Field(10, ge=1)
    pretrain_lr: float = Field(1e-3, gt=0)
    all_classes: bool = True  # every visited state teaches the reward of every class
    parallel: int = Field(256, ge=1)  # episodes side by side
    pool: int = Field(10_000, ge=1)  # episodes
    batch_steps: int = Field(2048, ge=1)
    interval: int = Field(200, ge=1)  # D, rounds between validations
    max_intervals: int = Field(15, ge=1)
    patience: int = Field(3, ge=1)  # validations without a better score
    learning_rate: float = Field(5e-4, gt=0)
    decay: float = Field(0.3, gt=0, le=1)  # of the learning rate after such a validation
    weight_decay: float = Field(1e-4, ge=0)
    target_rate: float = Field(0.01, gt=0, le=1)  # of the soft update
    clip: float = Field(1.0, gt=0)


def mostly_few(n: int, n_features: int, generator: torch.Generator) -> Tensor:
    """n masks of which each bit is 1 with probability ``u³``, one ``u ~ U(0, 1)`` per mask."""
    share = torch.rand(n, 1, generator=generator).pow(3)
    return (torch.rand(n, n_features, generator=generator) < share).float()


def class_reward(target: Tensor) -> Tensor:
    """0 for the right class and -1 for a wrong one; soft labels lie between."""
    return target - 1.0


def class_loss(q: Tensor, target: Tensor, n_classes: int) -> Tensor:
    """Squared error of all class actions, summed over the classes; ``(n,)``."""
    return (q[:, :n_classes] - class_reward(target)).square().sum(1)


def subset_class_loss(net: DuelingNet, rows: Rows, masks: Tensor, sampler: MaskSampler) -> Tensor:
    """Weighted mean of `class_loss` on random subsets; a scalar."""
    known = observe(rows, masks, sampler)
    each = class_loss(net(known.x, known.mask), rows.target, net.n_classes)
    return (known.weight * each).mean()


@dataclass
class QLearning:
    """The reinforcement stage: one step of every case and one gradient step per round."""

    net: DuelingNet
    rows: Rows
    config: CwcfConfig
    price: Tensor  # (M,) what each feature takes off the reward
    max_budget: int
    sampler: MaskSampler
    generator: torch.Generator

    def __post_init__(self) -> None:
        self.slow = copy.deepcopy(self.net).requires_grad_(False)

    def fit(self, validate: Validate, progress: Progress) -> History:
        """Leaves the network at its best validation."""
        config, net = self.config, self.net
        pool = Pool(config.pool, self.max_budget + 1, self.rows.x.device)
        cases = Environment(
            self.rows,
            config.parallel,
            max_budget=self.max_budget,
            pool=pool,
            generator=self.generator,
        )
        parameters = list(net.parameters())
        optimizer = torch.optim.Adam(
            parameters, lr=config.learning_rate, weight_decay=config.weight_decay
        )
        best = BestWeights(net, 1, config.patience)
        history: History = []
        while not pool.filled:
            cases.step(net, 1.0)
        for interval in range(config.max_intervals):
            total = 0.0
            for i in range(config.interval):
                done = min(1.0, (interval * config.interval + i) / (2 * config.interval))
                cases.step(net, 1.0 - 0.9 * done)
                batch = pool.sample(self._episodes_per_batch(), self.generator)
                loss = self.loss(batch, 0.5 * (1.0 - done))
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                clip_gradients(parameters, config.clip, per_member=False)
                optimizer.step()
                self._follow()
                total += float(loss.detach())
            if not total < float("inf"):
                raise HyperDFSError(
                    f"The loss must stay finite, it became {total}; set a smaller learning_rate "
                    "or look for extreme values."
                )
            with torch.no_grad():
                score = validate()
            history.append(
                {
                    "stage": "purchases",
                    "epoch": interval,
                    "train_loss": total / config.interval,
                    "valid_loss": score,
                }
            )
            progress("purchases", interval + 1, config.max_intervals)
            if score >= float(best.score) and interval >= 2:  # ε falls until then
                for group in optimizer.param_groups:
                    group["lr"] *= config.decay
            if best.update(torch.tensor([score])) and interval >= 2:
                break
        progress("purchases", config.max_intervals, config.max_intervals)
        best.restore()
        return history

    def _episodes_per_batch(self) -> int:
        return max(1, self.config.batch_steps // (self.max_budget + 1))

    @torch.no_grad()
    def _follow(self) -> None:
        pairs = zip(self.slow.parameters(), self.net.parameters(), strict=True)
        for slow, fast in pairs:
            slow.lerp_(fast, self.config.target_rate)

    def loss(self, episodes: Episodes, epsilon: float) -> Tensor:
        """Squared error against Retrace targets, and of the classes' known rewards."""
        net, columns = self.net, self.rows.columns
        n_classes, steps = net.n_classes, episodes.steps()
        mask = episodes.masks(n_classes, columns.n_features)
        case, _ = steps.nonzero(as_tuple=True)
        rows, states = self.rows.take(episodes.row), mask[steps]
        x = rows.x[case] * columns.expand(states)
        fast = net(x, states)
        with torch.no_grad():
            slow = self.slow(x, states)
            allowed = allowed_actions(states, rows.available()[case], n_classes, self.max_budget)
            policy = greedy_with(epsilon, fast, allowed)
            target = retrace_targets(
                self.reward(rows.target, episodes.action),
                _spread(slow, steps),
                _spread(policy, steps),
                episodes.action,
                episodes.mu,
                episodes.length,
            )[steps]
        taken = fast.gather(1, episodes.action[steps].unsqueeze(1)).squeeze(1)
        each = (taken - target).square()
        if self.config.all_classes:
            each = each + class_loss(fast, rows.target[case], n_classes)
        weight = rows.weight[case]
        if self.sampler.held_out:
            weight = weight * ~self.sampler.is_held_out(states)
        return (weight * each).mean()

    def reward(self, target: Tensor, action: Tensor) -> Tensor:
        """``(k, C), (k, T) -> (k, T)``"""
        bought = -self.price.expand(len(target), -1)
        return torch.cat([class_reward(target), bought], 1).gather(1, action)


def _spread(values: Tensor, steps: Tensor) -> Tensor:
    """Values of the steps that took place at their place, 0 elsewhere: ``(k, T, A)``."""
    out = values.new_zeros(*steps.shape, values.shape[1])
    out[steps] = values
    return out
