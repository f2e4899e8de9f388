"""Files are replaced whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hyperdfs.atomic import PART, replacing


@contextmanager
def umask(mask: int) -> Iterator[None]:
    old = os.umask(mask)
    try:
        yield
    finally:
        os.umask(old)


@pytest.mark.parametrize("old", [None, "old"])
def test_the_file_appears_at_the_end(tmp_path: Path, old: str | None) -> None:
    path = tmp_path / "page.html"
    if old is not None:
        path.write_text(old)
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert (path.read_text() if path.exists() else None) == old
        assert temporary.parent == tmp_path  # so that the last step is a rename
        assert temporary.name.startswith(".")
        assert temporary.suffix == PART  # what readers of a folder pass over
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("old", [None, "old"])
def test_after_an_error_all_is_as_it_was(
    tmp_path: Path, error: type[BaseException], old: str | None
) -> None:
    path = tmp_path / "model.hdfs"
    if old is not None:
        path.write_text(old)

    def write() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        write()
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == (
        [] if old is None else [("model.hdfs", old)]
    )


def test_a_target_that_cannot_be_replaced_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"), replacing(tmp_path / "folder") as temporary:
        temporary.write_text("new")
    assert os.listdir(tmp_path) == ["folder"]


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    with replacing(path) as one, replacing(path) as other:
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one"  # the last to finish
    assert os.listdir(tmp_path) == ["plan.json"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_readable_as_the_umask_allows(tmp_path: Path, mask: int, mode: int) -> None:
    """Also where the writer moved a private file into place, as downloads are."""
    with umask(mask):
        with replacing(tmp_path / "written") as temporary:
            temporary.write_text("text")
        with replacing(tmp_path / "moved") as temporary:
            private = tmp_path / "private"
            private.touch(0o600)
            os.replace(private, temporary)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"written": mode, "moved": mode}


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such"), replacing(tmp_path / "no such" / "x"):
        raise AssertionError
    assert os.listdir(tmp_path) == []
