"""hyperdfs buys only the features worth paying for.

Dynamic feature selection: every feature has a price and is bought one at a time, per case. A
*selector* says what to buy next, a *predictor* classifies from whatever subset is known.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module that defines it. Imported on first use, because torch alone takes seconds.
_LAZY = {
    "DFSClassifier": "hyperdfs.estimator",
    "HyperDFSClassifier": "hyperdfs.estimator",
    "load": "hyperdfs.bundle",
    "method_names": "hyperdfs.methods",
}

__all__ = ["DFSClassifier", "HyperDFSClassifier", "__version__", "load", "method_names"]

if TYPE_CHECKING:
    from hyperdfs.bundle import load
    from hyperdfs.estimator import DFSClassifier, HyperDFSClassifier
    from hyperdfs.methods import method_names


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
