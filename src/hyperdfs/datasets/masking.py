"""Helpers that keep an oracle from reading what was not observed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hyperdfs.datasets.base import BoolArray, FloatArray, IntArray
from hyperdfs.errors import InputError


def observed_values(X: npt.ArrayLike, mask: npt.ArrayLike) -> tuple[FloatArray, BoolArray]:
    """X with every unobserved value replaced by 0, and the mask as ``(n, M)``."""
    values = np.asarray(X, dtype=np.float64)
    bits = np.asarray(mask, dtype=bool)
    if values.ndim != 2 or bits.shape not in (values.shape, values.shape[1:]):
        raise InputError(
            "X must be (n, M) and mask (n, M) or (M,), "
            f"got X of shape {values.shape} and mask of shape {bits.shape}"
        )
    observed = np.broadcast_to(bits, values.shape)
    return np.where(observed, values, 0.0), observed


def first_unobserved(observed: BoolArray, order: IntArray) -> IntArray:
    """The first feature of ``order`` (``(M,)`` or ``(n, M)``) not observed yet; -1 if none is."""
    orders = np.broadcast_to(order, observed.shape)
    free = ~np.take_along_axis(observed, orders, axis=1)
    pick = np.take_along_axis(orders, free.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(free.any(axis=1), pick, -1).astype(np.int64)
