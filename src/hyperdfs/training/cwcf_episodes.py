"""Episodes of CWCF: buying until a class is named, a pool of them, and their Retrace targets."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from hyperdfs.acquisition import NEVER
from hyperdfs.nn.dueling import DuelingNet
from hyperdfs.training.data import Rows


class Episodes(NamedTuple):
    """What k episodes did, at most T = B + 1 steps each.

    Actions below C name a class and end the episode, the others buy feature ``action - C``.
    """

    row: Tensor  # (k,) of the training rows
    action: Tensor  # (k, T), anything after the end
    mu: Tensor  # (k, T) probability under the policy that acted
    length: Tensor  # (k,)

    def at(self, index: Tensor) -> Episodes:
        return Episodes(*(part[index] for part in self))

    def steps(self) -> Tensor:
        """Which steps took place, ``(k, T)`` bool."""
        time = torch.arange(self.action.shape[1], device=self.length.device)
        return time < self.length.unsqueeze(1)

    def masks(self, n_classes: int, n_features: int) -> Tensor:
        """What was known before each step, ``(k, T, M)``."""
        k, steps = self.action.shape
        bought = torch.zeros(k, steps, n_classes + n_features, device=self.action.device)
        bought.scatter_(2, self.action.unsqueeze(2), 1.0)
        bought = bought[:, :-1, n_classes:].cumsum(1)
        return torch.cat([bought.new_zeros(k, 1, n_features), bought.clamp_max_(1.0)], 1)


class Pool:
    """The last `size` episodes."""

    def __init__(self, size: int, max_steps: int, device: torch.device) -> None:
        self._kept = empty_episodes(size, max_steps, device)
        self._size, self._next, self.filled = size, 0, 0

    def add(self, episodes: Episodes) -> None:
        n = len(episodes.row)
        where = (self._next + torch.arange(n, device=episodes.row.device)) % self._size
        for kept, new in zip(self._kept, episodes, strict=True):
            kept[where] = new
        self._next = (self._next + n) % self._size
        self.filled = min(self._size, self.filled + n)

    def sample(self, k: int, generator: torch.Generator) -> Episodes:
        index = torch.randint(self.filled, (k,), generator=generator)
        return self._kept.at(index.to(self._kept.row.device))


def empty_episodes(n: int, max_steps: int, device: torch.device) -> Episodes:
    return Episodes(
        torch.zeros(n, dtype=torch.long, device=device),
        torch.zeros(n, max_steps, dtype=torch.long, device=device),
        torch.ones(n, max_steps, device=device),
        torch.zeros(n, dtype=torch.long, device=device),
    )


def allowed_actions(mask: Tensor, available: Tensor, n_classes: int, max_budget: int) -> Tensor:
    """Any class; a feature that is not known, not missing and within the budget; bool."""
    room = mask.sum(-1, keepdim=True) < max_budget
    features = (available > 0.5) & (mask < 0.5) & room
    classes = torch.ones(*mask.shape[:-1], n_classes, dtype=torch.bool, device=mask.device)
    return torch.cat([classes, features], -1)


def greedy_with(epsilon: float, q: Tensor, allowed: Tensor) -> Tensor:
    """Probabilities of the ε-greedy policy among the allowed actions."""
    allowed = allowed.to(q.dtype)
    best = q.masked_fill(allowed < 0.5, NEVER).argmax(-1, keepdim=True)
    policy = epsilon * allowed / allowed.sum(-1, keepdim=True)
    return policy.scatter_add(-1, best, torch.full_like(policy[..., :1], 1.0 - epsilon))


class Environment:
    """`n` cases side by side. Every other one must spend the whole budget before it names a class.

    At test time the budget is spent whatever the policy thinks of it, and these cases keep the
    states that then occur in the pool. Retrace corrects for their behaviour.
    """

    def __init__(
        self, rows: Rows, n: int, *, max_budget: int, pool: Pool, generator: torch.Generator
    ) -> None:
        self._rows, self._budget, self._pool, self._generator = rows, max_budget, pool, generator
        self._n_classes = rows.target.shape[1]
        device = rows.x.device
        self._now = empty_episodes(n, max_budget + 1, device)
        self._mask = torch.zeros(n, rows.columns.n_features, device=device)
        self._thrifty = torch.arange(n, device=device) % 2 == 0
        self._restart(torch.arange(n, device=device))

    @torch.no_grad()
    def step(self, net: DuelingNet, epsilon: float) -> None:
        """One action of every case; finished episodes go to the pool and start again."""
        now, mask = self._now, self._mask
        rows = self._rows.take(now.row)
        q = net(rows.x * rows.columns.expand(mask), mask)
        allowed = allowed_actions(mask, rows.available(), self._n_classes, self._budget)
        goes_on = ~self._thrifty & allowed[:, self._n_classes :].any(1)
        allowed[:, : self._n_classes] &= ~goes_on.unsqueeze(1)
        policy = greedy_with(epsilon, q, allowed)
        action = torch.multinomial(policy.cpu(), 1, generator=self._generator).to(mask.device)
        at = now.length.unsqueeze(1)
        now.action.scatter_(1, at, action)
        now.mu.scatter_(1, at, policy.gather(1, action))
        now.length.add_(1)
        ended = action.squeeze(1) < self._n_classes
        buys = (~ended).nonzero().squeeze(1)
        mask[buys, action[buys, 0] - self._n_classes] = 1.0
        done = ended.nonzero().squeeze(1)
        if len(done):
            self._pool.add(now.at(done))
            self._restart(done)

    def _restart(self, which: Tensor) -> None:
        row = torch.randint(len(self._rows), (len(which),), generator=self._generator)
        self._now.row[which] = row.to(which.device)
        self._now.length[which] = 0
        self._mask[which] = 0.0


def retrace_targets(
    reward: Tensor, q: Tensor, policy: Tensor, action: Tensor, mu: Tensor, length: Tensor
) -> Tensor:
    """Retrace(1), backward from each episode's end, never above 0; ``(k, T)``.

    ``G_t = r_t + sum_a pi(a) Q(s', a) + min(1, pi(a') / mu(a')) (G_{t+1} - Q(s', a'))`` with s' and
    a' of step t + 1; ``G = r`` in the last step.

    **Shape**: reward, action and mu ``(k, T)``, q and policy ``(k, T, A)``, length ``(k,)``
    """
    value = (policy * q).sum(2)
    chosen = action.unsqueeze(2)
    taken, likely = q.gather(2, chosen).squeeze(2), policy.gather(2, chosen).squeeze(2)
    trace = (likely / mu).clamp_max(1.0)
    steps = reward.shape[1]
    target = reward.clone()
    for t in range(steps - 2, -1, -1):
        later = value[:, t + 1] + trace[:, t + 1] * (target[:, t + 1] - taken[:, t + 1])
        target[:, t] += torch.where(length > t + 1, later, 0.0)
        target[:, t].clamp_max_(0.0)
    return target
