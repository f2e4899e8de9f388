"""Where files are looked for, and downloads from a server that runs here."""

from __future__ import annotations

import gc
import hashlib
import json
import sys
import threading
import warnings
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hyperdfs.cli.app import main
from hyperdfs.datasets import dataset_info, dataset_names
from hyperdfs.datasets.files import DataFile, cache_folder, cached, find_files, obtain_files
from hyperdfs.errors import DataNotFoundError, MissingExtraError

ROWS = b"a,b\n1,2\n"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """An empty data folder and an empty cache."""
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.setenv("HYPERDFS_DATA", str(data))
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache" / name)
    return data, tmp_path / "cache" / "hyperdfs"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Serves rows.csv and the same inside rows.zip."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "rows.csv").write_bytes(ROWS)
    with zipfile.ZipFile(home / "rows.zip", "w") as archive:
        archive.writestr("folder/rows.csv", ROWS)
        archive.writestr("readme", "words")

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(home))  # type: ignore[arg-type]

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as httpd:
        threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
    # pooch leaves the connection of a failed download to the garbage collector.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_the_folder_comes_before_the_cache(places: tuple[Path, Path]) -> None:
    alternatives = ((DataFile("a.csv"), DataFile("b.csv")), (DataFile("ab.csv"),))
    data, cache = places
    cache.mkdir(parents=True)
    assert cache_folder() == cache
    assert find_files(alternatives) is None
    (cache / "ab.csv").touch()
    assert find_files(alternatives) == (cache / "ab.csv",)
    (data / "a.csv").touch()  # half of an alternative is none
    assert find_files(alternatives) == (cache / "ab.csv",)
    (data / "b.csv").touch()
    assert find_files(alternatives) == (data / "a.csv", data / "b.csv")


def test_only_what_is_absent_is_downloaded(places: tuple[Path, Path], server: str) -> None:
    data, cache = places
    rows = DataFile("rows.csv", url=f"{server}/rows.csv")
    zipped = DataFile("big.tgz", url=f"{server}/big.tgz")  # which the server does not have
    (data / "big").mkdir()
    paths = obtain_files("rows", ((zipped, rows), (DataFile("big"), rows)))
    assert paths == (data / "big", cache / "rows.csv")


@pytest.mark.parametrize("archive", [False, True])
def test_download_once(archive: bool, places: tuple[Path, Path], server: str) -> None:
    _, cache = places
    url = f"{server}/rows.zip" if archive else f"{server}/rows.csv"
    sha256 = hashlib.sha256(ROWS).hexdigest()
    wanted = ((DataFile("mine.csv"),), (DataFile("rows.csv", sha256, url, archive),))
    paths = obtain_files("rows", wanted)
    assert paths == (cache / "rows.csv",)
    assert paths[0].read_bytes() == ROWS
    assert [path.name for path in cache.iterdir()] == ["rows.csv"]
    gone = ((DataFile("rows.csv", sha256, "http://127.0.0.1:9/rows.csv"),),)
    assert obtain_files("rows", gone) == paths


@pytest.mark.parametrize("fault", ["absent", "unreachable", "not in the zip"])
def test_a_failed_download_leaves_nothing(
    fault: str, places: tuple[Path, Path], server: str
) -> None:
    _, cache = places
    file = {
        "absent": DataFile("rows.csv", url=f"{server}/nothing.csv"),
        "unreachable": DataFile("rows.csv", url="http://127.0.0.1:9/rows.csv"),
        "not in the zip": DataFile("row.csv", None, f"{server}/rows.zip", archive=True),
    }[fault]
    with pytest.raises(DataNotFoundError, match=r"cannot be downloaded .*put rows?.csv into") as e:
        obtain_files("rows", ((file,),))
    assert "\n" not in str(e.value)
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("archive", [False, True])
@pytest.mark.parametrize("algorithm", ["", "md5:", "sha256:"])
def test_a_download_must_have_its_checksum(
    algorithm: str, archive: bool, places: tuple[Path, Path], server: str
) -> None:
    _, cache = places
    url = f"{server}/rows.zip" if archive else f"{server}/rows.csv"
    right = algorithm + hashlib.new(algorithm[:-1] or "sha256", ROWS).hexdigest()
    wrong = algorithm + "0" * (len(right) - len(algorithm))
    with pytest.raises(DataNotFoundError) as error:
        obtain_files("rows", ((DataFile("rows.csv", wrong, url, archive),),))
    start = f"rows.csv of data set 'rows' must have the checksum {wrong}, but what came from {url}"
    assert str(error.value).startswith(f"{start} has {right}; try again, or put rows.csv into ")
    assert "\n" not in str(error.value)
    assert list(cache.iterdir()) == []
    [path] = obtain_files("rows", ((DataFile("rows.csv", right, url, archive),),))
    assert path.read_bytes() == ROWS


@pytest.mark.parametrize("name", dataset_names())
def test_what_is_downloaded_has_a_checksum_or_says_that_it_has_none(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    info = dataset_info(name)
    bare = [file for files in info.files for file in files if not file.checksum]
    unknown = bool(bare) and not info.content
    assert main(["datasets", name]) == 0
    text = capsys.readouterr().out
    assert ("no published checksum: verified by its counts" in text) == unknown
    downloaded = any(file.url for file in bare) and not info.content
    assert downloaded == (name in ("miniboone", "nhanes_diabetes"))


def test_without_a_public_home(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataNotFoundError, match=r"put a.csv or b.csv and c.csv into .*/data"):
        obtain_files("x", ((DataFile("a.csv"),), (DataFile("b.csv"), DataFile("c.csv"))))
    monkeypatch.delenv("HYPERDFS_DATA")
    with pytest.raises(DataNotFoundError, match=r"put a.csv into a folder .* \$HYPERDFS_DATA"):
        obtain_files("x", ((DataFile("a.csv"),),))


def test_without_pooch_the_extra_is_named(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert cache_folder() is None
    with pytest.raises(MissingExtraError, match=r"hyperdfs\[bench\], or put a.csv"):
        obtain_files("x", ((DataFile("a.csv", url="http://127.0.0.1:9"),),))
    with pytest.raises(MissingExtraError, match=r"hyperdfs\[images\]"):
        cached("a", lambda path: None)


def test_what_is_cached_is_made_once_and_whole(places: tuple[Path, Path]) -> None:
    _, cache = places

    def fail(path: Path) -> None:
        path.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        cached("a.txt", fail)
    assert list(cache.iterdir()) == []
    made = cached("a.txt", lambda path: path.write_text("whole") and None)
    assert cached("a.txt", fail) == made
    assert made.read_text() == "whole"


def test_the_command_lists_and_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == dataset_names()
    assert rows["bank"]["n_rows"] == 11_162
    assert rows["wine"]["at_hand"]
    assert main(["datasets"]) == 0
    assert "metabric" in capsys.readouterr().out


@pytest.mark.parametrize("name", dataset_names())
def test_the_command_shows_every_entry(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    info = dataset_info(name)
    assert main(["datasets", name]) == 0
    text = capsys.readouterr().out
    assert info.licence in text
    assert f"{info.n_rows:,}" in text
    assert info.content in text
    delayed = [p for p in info.cost_sheet.prices.values() if p.delayed] if info.cost_sheet else []
    assert text.count("; the result is delayed") == len(delayed)
    assert main(["datasets", name, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["notes"] == list(info.notes)
    assert len(content["files"]) == len(info.files)


def test_the_command_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", "hart"]) == 2
    assert "did you mean heart" in capsys.readouterr().err
