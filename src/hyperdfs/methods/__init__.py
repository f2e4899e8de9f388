"""Registry: the name of a method -> how it is built and fitted."""

from __future__ import annotations

from hyperdfs.errors import InputError
from hyperdfs.methods.aaco import AACO
from hyperdfs.methods.base import Method, Model, Shape
from hyperdfs.methods.controls import CONTROL_METHODS
from hyperdfs.methods.cwcf import CWCF_METHODS
from hyperdfs.methods.dime import DIME
from hyperdfs.methods.eddi import EDDI
from hyperdfs.methods.gdfs import GDFS
from hyperdfs.methods.hyperens import HYPER_METHODS
from hyperdfs.methods.invase import INVASE_METHODS
from hyperdfs.methods.multimodel import MULTI_MODEL_METHODS
from hyperdfs.methods.repa import REPA
from hyperdfs.methods.sefa import SEFA_METHODS
from hyperdfs.methods.vip import VIP

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *HYPER_METHODS,
        *CONTROL_METHODS,
        AACO,
        DIME,
        EDDI,
        GDFS,
        REPA,
        VIP,
        *CWCF_METHODS,
        *INVASE_METHODS,
        *SEFA_METHODS,
        *MULTI_MODEL_METHODS,
    )
}


def method_names() -> list[str]:
    """Names that `DFSClassifier(method=...)`, the command line and the benchmark accept."""
    return sorted(METHODS)


def get_method(name: str) -> Method:
    if name not in METHODS:
        raise InputError(f"method must be one of {', '.join(method_names())}, got {name!r}.")
    return METHODS[name]


__all__ = ["METHODS", "Method", "Model", "Shape", "get_method", "method_names"]
