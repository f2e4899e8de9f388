"""Prices as a user gives them: by name, as a list, or one for all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from hyperdfs.errors import InputError, listing, suggest


def resolve_costs(costs: Any, names: tuple[str, ...]) -> np.ndarray:
    """One price per group as a read-only array."""
    if isinstance(costs, pd.Series):
        costs = costs.to_dict() if costs.index.is_unique else _reject_repeated_index(costs)
    if costs is None:
        listed: list[Any] = [1.0] * len(names)
    elif isinstance(costs, Mapping):
        listed = _costs_by_name(costs, names)
    elif np.ndim(costs) == 0:
        listed = [costs] * len(names)
    else:
        listed = list(costs)
    if len(listed) != len(names):
        raise InputError(
            f"costs must have one value per feature ({len(names)}), got {len(listed)}; "
            "give them by name to see which is missing"
        )
    prices = np.array([_price(n, value) for n, value in zip(names, listed, strict=True)], float)
    prices.flags.writeable = False
    return prices


def _reject_repeated_index(costs: pd.Series) -> Any:
    twice = listing(costs.index[costs.index.duplicated()].unique())
    raise InputError(f"costs must name every feature once, got {twice} twice; drop the repetition")


def _costs_by_name(costs: Mapping[Any, Any], names: tuple[str, ...]) -> list[Any]:
    # A table with integer columns has features "0", "1", ...; its user writes {0: ...}.
    by_name = {str(key): value for key, value in costs.items()}
    for key in by_name:
        if key not in names:
            raise InputError(f"costs name an unknown feature {key!r}; {suggest(key, names)}")
    missing = [name for name in names if name not in by_name]
    if missing:
        raise InputError(f"every feature needs a cost, got none for {listing(missing)}; add them")
    return [by_name[name] for name in names]


def _price(name: str, value: Any) -> float:
    rule = f"the cost of feature {name!r} must be a finite number of at least 0, got {value!r}"
    try:
        price = float(value)
    except (TypeError, ValueError):
        raise InputError(rule) from None
    if isinstance(value, str | bool) or not math.isfinite(price) or price < 0:
        raise InputError(rule)
    return price
