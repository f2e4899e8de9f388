"""Where the files of a data set are: the user's folder, the cache, or their public home."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperdfs.atomic import replacing
from hyperdfs.errors import DataNotFoundError, MissingExtraError

FOLDER = "HYPERDFS_DATA"


@dataclass(frozen=True)
class DataFile:
    """A file (or a folder) that a data set is read from.

    ``checksum`` is that of the file itself, where one is known: a SHA-256, or "md5:" and an MD5.
    A download must have it. ``url`` is its public home; with ``archive`` that is a zip file, and
    this file is inside it.
    """

    name: str
    checksum: str | None = None
    url: str = ""
    archive: bool = False


# A data set can be read from any one of these; the files of one alternative belong together.
Alternatives = tuple[tuple[DataFile, ...], ...]


def data_folder() -> Path | None:
    """The folder that ``$HYPERDFS_DATA`` names."""
    named = os.environ.get(FOLDER)
    return Path(named).expanduser() if named else None


def cache_folder() -> Path | None:
    """Where downloads are kept on this platform; None without pooch, which knows the place."""
    try:
        import pooch
    except ImportError:
        return None
    return Path(pooch.os_cache("hyperdfs"))


def find_files(alternatives: Alternatives) -> tuple[Path, ...] | None:
    """The files of the first alternative that is complete on this machine."""
    for files in alternatives:
        paths = [_find(file) for file in files]
        if None not in paths:
            return tuple(path for path in paths if path is not None)
    return None


def obtain_files(dataset: str, alternatives: Alternatives) -> tuple[Path, ...]:
    """The files of one alternative; what is not at hand is downloaded into the cache."""
    found = find_files(alternatives)
    if found is not None:
        return found
    possible = [files for files in alternatives if all(_find(f) or f.url for f in files)]
    if not possible:
        raise DataNotFoundError(
            f"data set {dataset!r} has no public download in a format that is read here; "
            f"{_where_to_put(alternatives)}"
        )
    folder = cache_folder()
    if folder is None:
        raise MissingExtraError(
            f"downloading data set {dataset!r} needs pooch; install hyperdfs[bench], or "
            f"{_where_to_put(alternatives)}"
        )
    # The alternative of which most is at hand already.
    files = max(possible, key=lambda files: sum(_find(file) is not None for file in files))
    return tuple(
        _find(file) or _download_or_explain(dataset, file, folder, alternatives) for file in files
    )


def _find(file: DataFile) -> Path | None:
    folders = [folder for folder in (data_folder(), cache_folder()) if folder]
    return next((at / file.name for at in folders if (at / file.name).exists()), None)


def _download_or_explain(
    dataset: str, file: DataFile, folder: Path, alternatives: Alternatives
) -> Path:
    try:
        return _download(file, folder)
    except _WrongContentError as error:
        raise DataNotFoundError(
            f"{file.name} of data set {dataset!r} must have the checksum {file.checksum}, but what "
            f"came from {file.url} has {error}; try again, or {_where_to_put(alternatives)}"
        ) from None
    except Exception as error:  # requests, urllib3 and pooch each have error trees of their own
        raise DataNotFoundError(
            f"data set {dataset!r} cannot be downloaded from {file.url} "
            f"({type(error).__name__}); {_where_to_put(alternatives)}"
        ) from error


def cached(name: str, make: Callable[[Path], None]) -> Path:
    """The file ``name`` of the cache folder; ``make`` writes it the first time."""
    folder = cache_folder()
    if folder is None:
        raise MissingExtraError(f"keeping {name} needs pooch; install hyperdfs[images]")
    path = folder / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            make(temporary)
    return path


def _where_to_put(alternatives: Alternatives) -> str:
    names = " or ".join(
        " and ".join(file.name for file in files) for files in alternatives if len(files) <= 3
    ) or ", ".join(file.name for file in alternatives[0])
    folder = data_folder()
    where = f"{folder} (${FOLDER})" if folder else f"a folder and name that in ${FOLDER}"
    return f"put {names} into {where}"


def _download(file: DataFile, folder: Path) -> Path:
    """Fetch into the cache; a zip is emptied of this one file and not kept."""
    import pooch

    pooch.get_logger().setLevel("WARNING")  # the bar says enough
    path = folder / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as scratch, _Bar() as bar:
        member = pooch.Unzip() if file.archive else None
        got = pooch.retrieve(
            file.url,
            known_hash=None,  # for a zip it would be that of the archive
            path=scratch,
            processor=member,
            downloader=pooch.HTTPDownloader(progressbar=bar),
        )
        if file.archive:
            got = next(each for each in got if Path(each).name == file.name)
        _check(file, got)
        with replacing(path) as temporary:
            shutil.move(got, temporary)
    return path


class _WrongContentError(Exception):
    """A file was downloaded whose checksum is this, and not the known one."""


def _check(file: DataFile, path: str) -> None:
    import pooch

    if file.checksum is None:
        return
    algorithm, colon, known = file.checksum.rpartition(":")
    found = pooch.file_hash(path, alg=algorithm or "sha256")
    if found != known:
        raise _WrongContentError(algorithm + colon + found)


class _Bar:
    """pooch's idea of a progress bar, drawn by rich; silent where nobody watches."""

    total: int = 0

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("download"),
            BarColumn(),
            DownloadColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("download", total=None)

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._progress.stop()

    def update(self, n: int) -> None:
        self._progress.update(self._task, total=self.total or None, advance=n)

    def reset(self) -> None:
        self._progress.reset(self._task)

    def close(self) -> None:
        pass
