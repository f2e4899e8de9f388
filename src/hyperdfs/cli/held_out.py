"""Rows that `train` keeps aside to score the model."""

from __future__ import annotations

import numpy as np

from hyperdfs.errors import InputError


def hold_out(y: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to fit and rows to score, of every class in proportion.

    Both parts get a row of every class that has two or more; a class of one row is fitted.
    """
    from sklearn.model_selection import train_test_split

    everything = np.arange(len(y))
    if not fraction:
        return everything, everything[:0]
    codes, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
    splittable = everything[counts[codes] >= 2]
    classes = int((counts >= 2).sum())
    size = max(round(fraction * len(y)), classes)
    if not classes or len(splittable) - size < classes:
        raise InputError(
            f"--test-fraction {fraction:g} must leave a row of every class to fit and one to "
            f"score, {len(y)} rows of {len(counts)} classes are too few; use a smaller fraction, "
            "or 0 to hold out none."
        )
    _, unseen = train_test_split(
        splittable, test_size=size, stratify=codes[splittable], random_state=seed
    )
    seen = np.setdiff1d(everything, unseen)
    # A class of few rows may have been held out whole.
    gone = [unseen[codes[unseen] == code][0] for code in np.setdiff1d(codes, codes[seen])]
    return np.union1d(seen, gone).astype(int), np.setdiff1d(unseen, gone)
