"""Who is at work on which cell: small files with a heartbeat, beside the cells of a store.

Several runs may fill one store: a cell with a living lease is left to its worker. Two that start at
the same moment may still both run a cell, which is harmless: they write the same result.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from hyperdfs.atomic import replacing
from hyperdfs.bench.cells import CellKey

FOLDER = ".running"
HEARTBEAT = 5.0  # seconds between signs of life
SILENCE = 60.0  # seconds without one after which a worker counts as dead


@dataclass(frozen=True)
class Lease:
    """A cell under way."""

    key: CellKey
    pid: int
    host: str
    started: float  # seconds since the epoch
    heartbeat: float

    @property
    def alive(self) -> bool:
        """Whether its worker still runs, as far as can be told from here."""
        if self.host == socket.gethostname() and not _runs(self.pid):
            return False
        return time.time() - self.heartbeat < SILENCE


@contextmanager
def lease(root: Path, key: CellKey) -> Iterator[bool]:
    """Inside, the store at `root` shows that this process works on the cell.

    Yields False where another worker was there before: then the cell is to be left to it.
    """
    path = root / FOLDER / f"{_name(key)}-{socket.gethostname()}-{os.getpid()}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "key": key.model_dump(),
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "started": time.time(),
    }
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content), encoding="utf-8")
    over = threading.Event()
    beat = threading.Thread(target=_beat, args=(path, over), daemon=True)
    beat.start()
    try:
        yield _oldest(root, key)
    finally:
        over.set()
        beat.join()
        path.unlink(missing_ok=True)


def held(root: Path) -> set[CellKey]:
    """The cells that some living worker is at work on."""
    return {lease.key for lease in read_leases(root) if lease.alive}


def read_leases(root: Path) -> list[Lease]:
    """The leases of a store, of living and dead workers, the oldest first."""
    found = (_read(path) for path in (root / FOLDER).glob("*.json"))
    return sorted((lease for lease in found if lease), key=lambda lease: lease.started)


def sweep_leases(root: Path) -> None:
    """Forget the workers that are dead."""
    for path in (root / FOLDER).glob("*.json"):
        lease = _read(path)
        if lease and not lease.alive:
            path.unlink(missing_ok=True)


def as_dict(lease: Lease) -> dict[str, object]:
    """For a program to read."""
    return {**asdict(lease), "key": lease.key.model_dump(), "alive": lease.alive}


def _oldest(root: Path, key: CellKey) -> bool:
    """Whether this process, whose lease is written, was the first of the living on the cell."""
    living = [lease for lease in read_leases(root) if lease.key == key and lease.alive]
    first = min(living, key=lambda lease: (lease.started, lease.host, lease.pid), default=None)
    return first is None or (first.host, first.pid) == (socket.gethostname(), os.getpid())


def _beat(path: Path, over: threading.Event) -> None:
    while not over.wait(HEARTBEAT):
        try:
            os.utime(path)
        except OSError:  # the store is being deleted, or its disk is away for a moment
            continue


def _read(path: Path) -> Lease | None:
    """None for a lease that ended meanwhile, or that no worker of this library wrote."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        key = CellKey.model_validate(content.pop("key"))
        return Lease(key=key, heartbeat=path.stat().st_mtime, **content)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _name(key: CellKey) -> str:
    return "~".join(key.path().with_suffix("").parts)


def _runs(pid: int) -> bool:
    if os.name == "nt":
        return True  # no harmless way to ask: the heartbeat decides
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # of another user, but there
    return True
