"""Parts of a training loop: optimiser, schedule, clipping, best weights, history."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

Progress = Callable[[str, int, int], None]  # stage, epochs done, epochs in all


class DivergedError(RuntimeError):
    """The loss became infinite or NaN; the caller restarts with a smaller step."""


def warmup_cosine(step: int, *, warmup: int, total: int) -> float:
    """Factor on the learning rate: 1/100 -> 1 linearly, then a cosine down to 1/100."""
    low = 0.01
    if step < warmup:
        return low + (1.0 - low) * step / warmup
    done = min(1.0, (step - warmup) / max(1, total - warmup))
    return low + (1.0 - low) * 0.5 * (1.0 + math.cos(math.pi * done))


class Trainer:
    """Adam with coupled weight decay, a warm-up and cosine schedule and clipped gradients.

    groups : (parameters, learning rate, whether they carry a leading member axis).
    """

    def __init__(
        self,
        groups: list[tuple[nn.Module, float, bool]],
        *,
        weight_decay: float,
        clip: float,
        warmup_steps: int,
        total_steps: int,
    ) -> None:
        self._modules = [(list(module.parameters()), members) for module, _, members in groups]
        self.optimizer = torch.optim.Adam(
            [
                {"params": list(module.parameters()), "lr": torch.tensor(lr), "base": lr}
                for module, lr, _ in groups
            ],
            weight_decay=weight_decay,
            fused=True,
        )
        self._clip = clip
        self._warmup, self._total, self._step = warmup_steps, total_steps, 0

    def step(self, loss: Tensor) -> None:
        if not torch.isfinite(loss):
            raise DivergedError
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        for parameters, members in self._modules:
            clip_gradients(parameters, self._clip, per_member=members)
        factor = warmup_cosine(self._step, warmup=self._warmup, total=self._total)
        for group in self.optimizer.param_groups:
            group["lr"].fill_(group["base"] * factor)
        self.optimizer.step()
        self._step += 1


@torch.no_grad()
def clip_gradients(parameters: Iterable[Tensor], limit: float, *, per_member: bool) -> None:
    """Scale gradients to a global norm of at most `limit`, for each member by itself."""
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return
    rows = grads[0].shape[0] if per_member else 1
    norms = torch.stack([torch.linalg.vector_norm(g.reshape(rows, -1), dim=1) for g in grads])
    scale = (limit / (torch.linalg.vector_norm(norms, dim=0) + 1e-6)).clamp(max=1.0)
    if bool((scale < 1.0).any()):
        for grad in grads:
            grad.mul_(scale.view(rows, *[1] * (grad.dim() - 1)) if per_member else scale)


class RunningMean:
    """Exponential mean of the weights over the last `horizon` steps; 0 leaves them as they are.

    Validation and the final model use the mean, which is steadier than any single step.
    """

    def __init__(self, module: nn.Module, horizon: float) -> None:
        self._parameters = list(module.parameters())
        self._mean = [p.detach().clone() for p in self._parameters] if horizon else []
        self._horizon, self._steps = horizon, 0

    @torch.no_grad()
    def update(self) -> None:
        self._steps += 1
        share = 1.0 / min(self._horizon or 1.0, self._steps)  # a plain mean at first
        for mean, parameter in zip(self._mean, self._parameters, strict=False):
            mean.lerp_(parameter, share)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Inside, the module carries the mean."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for mean, parameter in zip(self._mean, self._parameters, strict=False):
            kept = parameter.detach().clone()
            parameter.copy_(mean)
            mean.copy_(kept)


class BestWeights:
    """Keeps the best state of each member (or of a whole) and says when patience has run out."""

    def __init__(self, module: nn.Module, members: int, patience: int) -> None:
        self._module, self._patience = module, patience
        self.score = torch.full((members,), math.inf)
        self._age = 0
        self._state = {k: v.detach().clone() for k, v in module.state_dict().items()}

    def update(self, score: Tensor) -> bool:
        """Take note of a score per member (lower is better); True when patience has run out."""
        score = score.cpu()  # where the best one is kept, wherever the fit runs
        better = score < self.score
        if better.any():
            self._age = 0
            for key, value in self._module.state_dict().items():
                if len(better) == 1:
                    self._state[key].copy_(value)
                else:
                    self._state[key][better] = value[better]
            self.score = torch.minimum(score, self.score)
        else:
            self._age += 1
        return self._age >= self._patience

    def restore(self) -> None:
        self._module.load_state_dict(self._state)


History = list[dict[str, Any]]
