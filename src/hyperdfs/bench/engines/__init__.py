"""Engines: processes of this machine, Ray, SLURM. One function hides which one it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperdfs.bench.engines.base import Engine, Outcome
from hyperdfs.bench.engines.local import LocalEngine
from hyperdfs.errors import InputError

ENGINES = ("local", "ray", "slurm")


def make_engine(
    name: str,
    *,
    jobs: int | None = None,
    address: str | None = None,
    folder: Path = Path(),
    slurm: Mapping[str, Any] | None = None,
) -> Engine:
    """The named engine, with at most `jobs` cells at a time.

    address : of a running Ray cluster; without it Ray starts one on this machine.
    folder, slurm : where SLURM's jobs leave their logs, and what they are submitted with.
    """
    if address is not None and name != "ray":
        raise InputError(f"--address goes with --engine ray only, got --engine {name}.")
    if name == "local":
        return LocalEngine(jobs)
    if name == "ray":
        from hyperdfs.bench.engines.on_ray import RayEngine

        return RayEngine(jobs=jobs, address=address)
    if name == "slurm":
        from hyperdfs.bench.engines.on_slurm import SlurmEngine

        return SlurmEngine(folder, jobs=jobs, options=slurm or {})
    raise InputError(f"engine must be one of {', '.join(ENGINES)}, got {name!r}.")


__all__ = ["ENGINES", "Engine", "LocalEngine", "Outcome", "make_engine"]
