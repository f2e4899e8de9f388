"""Test images with the patches that were bought."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import numpy as np
import pytest

from bench_stores import record
from hyperdfs.bench.cells import CellArrays, read_records, write_cell
from hyperdfs.report.benchmark import gather, render
from hyperdfs.report.benchmark.images import encode_png, image_of


def test_bought_patches_are_shown_on_the_images_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of the real format with few rows would be refused, so the loader is given a table."""
    from hyperdfs.datasets import catalog
    from hyperdfs.datasets.base import DatasetInfo, RawData
    from hyperdfs.datasets.patches import PatchGrid

    grid = PatchGrid(rows=2, columns=2, side=2)
    images = np.arange(6 * 16, dtype=np.uint8).reshape(6, 4, 4)

    def load(seed: int, n_samples: int) -> RawData:
        y = np.array([0, 1] * 3)
        return RawData(grid.table(images), y, ("even", "odd"), grid.features())

    info = DatasetInfo(
        *("tiny", "images", "tiny", 6, 4, 2, "none", "here", load), majority_share=0.5
    )
    monkeypatch.setitem(catalog.CATALOG, "tiny", info)
    cell, other = (
        record("tiny", label, [0.1, 0.5, 0.6], kind="images", n_features=4, n_folds=1)
        for label in ("vip", "moe")
    )
    order = np.array([[3, 0]] * 6, dtype=np.int16)
    proba = np.tile(np.array([0.2, 0.8], dtype=np.float16), (6, 3, 1))
    rows = np.arange(6, dtype=np.int32)
    for each in (cell, other):
        write_cell(tmp_path, each, CellArrays(rows, (rows % 2).astype(np.int16), order, proba))
    page = render(gather(tmp_path, read_records(tmp_path), page=Path("page.html")))
    part = page.split('id="patches"')[1].split("<h2 ")[0]
    one, two = part.split('<div class="views">')[1:]  # an image of each class
    for views in (one, two.split("</div>")[0]):
        assert re.findall(r"</b> · (\w+):", views) == ["vip", "moe"]
    assert "Veiled in grey: what was not bought" in part
    assert "M1 1h1v1h-1zM0 0h1v1h-1z" in part  # patch 3, then patch 0
    assert '<span class="wrong">odd</span>' in part
    assert '<span class="right">odd</span>' in part


@pytest.mark.parametrize("channels", [1, 3])
def test_png_gives_the_pixels_back(channels: int) -> None:
    image_module = pytest.importorskip("PIL.Image")
    from hyperdfs.datasets.patches import PatchGrid

    grid = PatchGrid(rows=3, columns=3, side=2, channels=channels)
    pixels = np.random.default_rng(0).integers(0, 256, (1, *grid.image_shape), dtype=np.uint8)
    values = grid.table(pixels).to_numpy(dtype=float)[0]
    content = base64.b64decode(encode_png(image_of(values, 9)))
    decoded = np.asarray(image_module.open(io.BytesIO(content)))
    assert np.array_equal(decoded, pixels[0])
