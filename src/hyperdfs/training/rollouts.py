"""Stage 3: the selector learns what each purchase leads to.

The gradient of stage 2 improves a policy where it stands. It never finds a detour that pays only
if later purchases change as well, such as to look at one half of several pairs first and then to
complete the most promising. Training rows are complete, so that every purchase can be tried out:
from a state on the way, each candidate is bought in turn, the policy goes on to the end of the
budget, and the losses on that way, compared with those of the other candidates, are what the
candidate's score must say. Buying by the highest score is then a step of policy iteration.

The losses are taken against what the teachers say: the predictor knows the labels of training
rows in part by heart, and a policy would learn to buy whatever reminds it of them. It still may,
and where it did, validation rows tell: they decide whether the new selector is kept.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from hyperdfs.acquisition import NEVER, Predictor, Selector
from hyperdfs.config import HyperConfig
from hyperdfs.nn.scoring import ScoreNet
from hyperdfs.training.data import Rows, shuffled_batches
from hyperdfs.training.loop import DivergedError, History, Progress, RunningMean, Trainer
from hyperdfs.training.policy_scores import PolicyScores, first_scored, policy_scores
from hyperdfs.training.purchases import gumbel_noise

BATCH = 512
CANDIDATES = 12  # bought in turn: the better half by score, the others by chance
CHECK_EVERY = 50  # steps
MEAN_STEPS = 100  # of the running mean of the weights
SPREAD = 3.0  # of the scores: noise of the size 1 turns close decisions only
LEAST = 1e-6  # probability: one bold mistake must not outweigh everything
TINY = 1e-12


@dataclass
class State:
    """Where rows stand: what is known, and what can no longer be bought or never could."""

    mask: Tensor  # (n, M)
    closed: Tensor  # (n, M) bool

    def buy(self, choice: Tensor) -> None:
        """One purchase per row, (n, 1); nothing where that is closed."""
        bought = ~self.closed.gather(1, choice)
        self.mask.scatter_add_(1, choice, bought.to(self.mask))
        self.closed.scatter_(1, choice, True)

    def repeated(self, times: int) -> State:
        """Every row `times` times in succession."""
        return State(self.mask.repeat_interleave(times, 0), self.closed.repeat_interleave(times, 0))


@dataclass
class Rollouts:
    """Tries purchases out for the rows of a batch under the selector as it is."""

    predictor: Predictor
    selector: ScoreNet
    budget: int
    price: Tensor  # (M,) extra loss for buying a feature; zeros when all cost the same
    generator: torch.Generator

    def scores(self, rows: Rows, state: State) -> Tensor:
        """(n, M); with a gradient for the selector unless the caller forbids it."""
        scores: Tensor = self.selector(rows.x * rows.columns.expand(state.mask), state.mask)
        return scores.masked_fill(state.closed, NEVER)

    @torch.no_grad()
    def visit(self, rows: Rows, steps: int) -> State:
        """Where the policy with some noise is after so many steps."""
        available = rows.available()
        state = State(torch.zeros_like(available), available < 0.5)
        for _ in range(steps):
            scores = self.scores(rows, state)
            noise = gumbel_noise(scores.shape, self.generator).to(scores)
            state.buy((scores + noise).argmax(1, keepdim=True))
        return state

    @torch.no_grad()
    def candidates(self, scores: Tensor, state: State, bought: int) -> Tensor:
        """(n, k) features: all that are left, or k, half of them by score, the others by chance.

        Where fewer than k are left in a row, closed ones fill it up.
        """
        left = scores.shape[1] - bought
        k = min(CANDIDATES, left)
        rank = torch.rand(scores.shape, generator=self.generator).to(scores)
        if k < left:
            rank.scatter_(1, scores.topk(k // 2, 1).indices, 2.0)
        return rank.masked_fill(state.closed, NEVER).topk(k, 1).indices

    @torch.no_grad()
    def losses(self, rows: Rows, state: State, candidates: Tensor, bought: int) -> Tensor:
        """(n, k): what follows when each candidate is bought, from here to the end of the budget.

        At every purchase on the way the loss counts, and with it the price of all that is bought,
        but for the first of all: scores begin with two purchases.
        """
        n, k = candidates.shape
        each = torch.arange(n, device=candidates.device).repeat_interleave(k)
        rows, state = rows.take(each), state.repeated(k)
        truth = rows.target if rows.taught is None else rows.taught
        choice = candidates.reshape(-1, 1)
        masks = []
        for step in range(bought + 1, self.budget + 1):
            state.buy(choice)
            if step >= first_scored(self.budget):
                masks.append(state.mask.clone())
            if step < self.budget:
                choice = self.scores(rows, state).argmax(1, keepdim=True)
        seen = torch.stack(masks)  # predicted at once: many of the same masks
        known = rows.x * rows.columns.expand(seen)
        proba = self.predictor.proba(known.flatten(0, 1), seen.flatten(0, 1)).clamp_min(LEAST)
        likely = (proba.log().unflatten(0, seen.shape[:2]) * truth).sum(2)
        total = (seen @ self.price - likely * rows.weight).sum(0)
        return total.view(n, k)


def fit_by_rollouts(
    selector: ScoreNet,
    untrained: Mapping[str, Tensor],
    train: Rows,
    valid: Rows,
    config: HyperConfig,
    *,
    predictor: Predictor,
    policy: Selector,
    max_budget: int,
    price: Tensor,
    generator: torch.Generator,
    progress: Progress,
) -> History:
    """Train the selector anew from `untrained` weights; keep it where it is clearly better.

    policy : the selector, as purchases are made with it.
    """

    def check() -> PolicyScores:
        return policy_scores(predictor, policy, valid, max_budget, price)

    before, old = copy.deepcopy(selector.state_dict()), check()
    selector.load_state_dict(untrained)
    budget = min(max_budget, train.columns.n_features)
    rollouts = Rollouts(predictor, selector, budget, price, generator)
    try:
        new, history = _train(rollouts, train, config, check, progress)
    except DivergedError:
        warnings.warn(
            f"Stage 3 diverged and is left out; set a rollout_lr below {config.rollout_lr:g}.",
            RuntimeWarning,
            stacklevel=2,
        )
        selector.load_state_dict(before)
        return []
    if not clearly_less(new, old):
        selector.load_state_dict(before)
    return history


def _train(
    rollouts: Rollouts,
    train: Rows,
    config: HyperConfig,
    check: Callable[[], PolicyScores],
    progress: Progress,
) -> tuple[PolicyScores, History]:
    """Regress the scores on what candidates led to; leaves the running mean of the weights."""
    steps, n_features = config.rollout_steps, train.columns.n_features
    selector, generator = rollouts.selector, rollouts.generator
    trainer = Trainer(
        [(selector, config.rollout_lr, False)],
        weight_decay=config.weight_decay,
        clip=config.clip,
        warmup_steps=steps // 20,
        total_steps=steps,
    )
    mean = RunningMean(selector, MEAN_STEPS)
    history: History = []
    losses: list[float] = []
    unit = None
    batches = shuffled_batches(len(train), BATCH, passes=steps, generator=generator)
    for step, index in zip(range(1, steps + 1), batches, strict=False):
        rows = train.take(index)
        # the last feature that is left has nothing to be compared with
        most = min(rollouts.budget, n_features - 1)
        bought = int(torch.randint(0, most, (1,), generator=generator))
        state = rollouts.visit(rows, bought)
        scores = rollouts.scores(rows, state)
        candidates = rollouts.candidates(scores, state, bought)
        open_ = ~state.closed.gather(1, candidates)
        merit = centred(-rollouts.losses(rows, state, candidates, bought), open_)
        size = float((merit.square().sum() / open_.sum().clamp_min(1)).sqrt())
        unit = size if unit is None else 0.95 * unit + 0.05 * size
        error = centred(scores.gather(1, candidates), open_) - merit * (SPREAD / max(unit, TINY))
        loss = error.square().sum() / open_.sum().clamp_min(1)
        losses.append(float(loss.detach()))
        trainer.step(loss)
        mean.update()
        if step % CHECK_EVERY and step < steps:
            continue
        with mean.applied():
            scored = check()
            trained = copy.deepcopy(selector.state_dict())
        history.append(
            {
                "stage": 3,
                "epoch": len(history),
                "train_loss": float(np.mean(losses)),
                "valid_loss": scored.log_loss,
                "valid_auac": scored.f1_macro,
            }
        )
        losses.clear()
        progress("rollouts", step, steps)
    selector.load_state_dict(trained)
    return scored, history


def clearly_less(new: PolicyScores, old: PolicyScores) -> bool:
    """Whether the losses fell by more than the standard error of the difference.

    Of a few hundred labels that is hard to tell. What teachers say of the same rows has a fraction
    of the noise; labels then only have a veto, if they rose by more than their standard error.
    """
    by_labels = gain_in_errors(new.losses, old.losses)
    if new.taught is None or old.taught is None:
        return by_labels > 1.0
    return gain_in_errors(new.taught, old.taught) > 1.0 and by_labels > -1.0


def gain_in_errors(new: np.ndarray, old: np.ndarray) -> float:
    """By how many standard errors the mean is lower."""
    gain = old - new
    return float(gain.mean() / max(gain.std() / np.sqrt(len(gain)), TINY))


def centred(values: Tensor, counted: Tensor) -> Tensor:
    """Minus the mean of each row over what counts; 0 elsewhere."""
    kept = values.masked_fill(~counted, 0.0)
    mean = kept.sum(1, keepdim=True) / counted.sum(1, keepdim=True).clamp_min(1)
    return (kept - mean).masked_fill(~counted, 0.0)
