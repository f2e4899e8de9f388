"""A checksum of what a table says, whatever file format it came in."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

if TYPE_CHECKING:
    from hyperdfs.features import FeatureSpace


def content_hash(X: pd.DataFrame, y: npt.ArrayLike, features: FeatureSpace | None = None) -> str:
    """SHA-256 over column names, values and labels, and over groups and prices if given.

    The same on every platform and with every version of pandas: numbers count as little-endian
    float64, text by its distinct values and their places. Images, tables of float32 alone, are
    taken row by row as they lie in memory, which is several times faster.

    >>> table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    >>> content_hash(table, [0, 1]) == content_hash(table.astype({"a": float}), [0, 1])
    True
    >>> content_hash(table, [0, 1]) == content_hash(table, [1, 0])
    False
    """
    digest = hashlib.sha256(_json([str(column) for column in X.columns]))
    if (X.dtypes == np.float32).all():
        digest.update(np.ascontiguousarray(X.to_numpy(), dtype="<f4").data)
    else:
        for i in range(X.shape[1]):
            _update(digest, X.iloc[:, i])
    digest.update(np.asarray(y, dtype="<i8").tobytes())
    if features is not None:
        digest.update(_json(features.to_dict()))
    return digest.hexdigest()


def _update(digest: Any, column: pd.Series) -> None:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        digest.update(column.to_numpy(dtype="<f8").tobytes())
    else:
        codes, distinct = pd.factorize(column)
        digest.update(codes.astype("<i8").tobytes())
        digest.update(_json([str(value) for value in distinct]))


def _json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=True).encode()
