"""Fitted arrays of any shape as a module, so that a saved model holds them beside its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn


class Arrays(nn.Module):
    """Named tensors that are fitted rather than trained: an order, trees, stored rows.

    A fresh one has the names and no content; its shapes come with the stored state.

    >>> fitted = Arrays("order")
    >>> fitted.set("order", torch.tensor([2, 0, 1]))
    >>> loaded = Arrays("order")
    >>> loaded.load_state_dict(fitted.state_dict())
    <All keys matched successfully>
    >>> loaded.get("order")
    tensor([2, 0, 1])
    """

    def __init__(self, *names: str) -> None:
        super().__init__()
        for name in names:
            self.register_buffer(name, torch.empty(0))

    def get(self, name: str) -> Tensor:
        value: Tensor = getattr(self, name)
        return value

    def set(self, name: str, value: Tensor) -> None:
        if name not in self._buffers:
            raise KeyError(name)
        setattr(self, name, value.detach().clone())

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        for name in self._buffers:
            if prefix + name in state_dict:
                like = state_dict[prefix + name]
                setattr(self, name, torch.empty_like(like, device=self.get(name).device))
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
