"""Compile the C of this folder, once per machine, and load it."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

import torch

from hyperdfs.atomic import replacing

FOLDER = Path(__file__).parent
FLAGS = (
    *("-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp-simd", "-std=gnu11"),
    *("-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared"),
)
TYPES = {torch.float32: "float", torch.float64: "double"}


@lru_cache(maxsize=len(TYPES))
def library(dtype: torch.dtype) -> ctypes.CDLL | None:
    """The compiled functions for numbers of this type, or None where that cannot be."""
    compiler = shutil.which("cc")
    if compiler is None or dtype not in TYPES:
        return None
    try:
        with tempfile.TemporaryDirectory() as folder:
            return _load(_compiled(compiler, TYPES[dtype], Path(folder)))
    except (OSError, RuntimeError, subprocess.SubprocessError):  # RuntimeError: no home folder
        return None


def _compiled(compiler: str, real: str, spare: Path) -> Path:
    """The shared library in the user's cache, or in `spare` where that cannot be written."""
    name = f"tokens-{real}-{_fingerprint(compiler)}.so"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hyperdfs"
    if (folder / name).exists():
        return folder / name
    built = spare / name
    command = [compiler, *FLAGS, f"-DREAL={real}", str(FOLDER / "tokens.c"), "-o", str(built)]
    subprocess.run([*command, "-lm"], check=True, capture_output=True, timeout=120)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / name) as own:  # others may be loading it
            shutil.copyfile(built, own)
    except OSError:
        return built
    return folder / name


def _fingerprint(compiler: str) -> str:
    """Of all that the library depends on: a cache may be shared by machines of several kinds."""
    digest = hashlib.sha256(" ".join((compiler, *FLAGS, platform.machine())).encode())
    for path in sorted([*FOLDER.glob("*.[ch]")]):
        digest.update(path.read_bytes())
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        digest.update(next((line for line in lines if line.startswith("flags")), "").encode())
    except OSError:
        digest.update(platform.processor().encode())
    return digest.hexdigest()[:16]


def _load(path: Path) -> ctypes.CDLL:
    found = ctypes.CDLL(str(path))
    sizes, address = [ctypes.c_long] * 6, ctypes.c_void_p
    found.forward.argtypes = [*sizes, *[address] * 6]
    found.backward.argtypes = [*sizes, *[address] * 11]
    return found
