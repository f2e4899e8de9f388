"""Files that are whole or not there, whatever happens while they are written."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PART = ".part"  # how the name of a file ends that is being written


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty file beside `path`, to be written inside; then it takes the place of `path`.

    After an error it is gone and `path` is as it was. A file that a killed process leaves behind
    is hidden and its name ends in `PART`, so nobody takes it for the real one.
    """
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex[:16]}{PART}")
    with temporary.open("xb") as empty:
        mode = stat.S_IMODE(os.fstat(empty.fileno()).st_mode)  # what the umask allows
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())  # the name must not reach the disk before the content
        temporary.chmod(mode)  # a file that was moved here may be private
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
