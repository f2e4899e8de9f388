"""Test images with the patches that were bought, as small PNG files."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Mapping

import numpy as np

from hyperdfs.report.benchmark.content import Revealed
from hyperdfs.report.benchmark.store import Purchases

N_IMAGES = 4
NO_PIXELS = ("imagenette",)  # its patches are the outputs of a network, and dear to load


def revealed(source: str, purchases: Mapping[str, Purchases]) -> list[list[Revealed]]:
    """A few images of different classes, each as every method of `purchases` saw it.

    Empty where the pixels are not at hand: the data file is elsewhere, or features are no pixels.
    """
    from hyperdfs.datasets import dataset_info, load_dataset
    from hyperdfs.errors import HyperDFSError

    try:
        if source in NO_PIXELS or not dataset_info(source).at_hand:
            return []
        data = load_dataset(source)
    except HyperDFSError:
        return []
    if data.features.kind != "pixels" or not purchases:
        return []
    first = next(iter(purchases.values()))
    candidates = first.rows[first.rows < len(data.y)]
    views = []
    for row in one_of_each_class(candidates, data.y[candidates])[:N_IMAGES]:
        values = data.X.iloc[row].to_numpy(dtype=float)
        png = encode_png(image_of(values, data.features.n_features))
        seen = []
        for label, bought in purchases.items():
            at = np.searchsorted(bought.rows, row)
            if at == len(bought.rows) or bought.rows[at] != row:
                continue
            guess = "" if bought.predicted is None else data.class_names[bought.predicted[at]]
            seen.append(
                Revealed(
                    label=label,
                    truth=data.class_names[data.y[row]],
                    predicted=guess,
                    png=png,
                    side=math.isqrt(data.features.n_features),
                    order=[int(f) for f in bought.order[at] if f >= 0],
                )
            )
        views.append(seen)
    return views


def one_of_each_class(rows: np.ndarray, labels: np.ndarray) -> list[int]:
    """The first row of every class, in the order of rows.

    >>> one_of_each_class(np.array([5, 6, 7]), np.array([1, 1, 0]))
    [5, 7]
    """
    first = np.sort(np.unique(labels, return_index=True)[1])
    return [int(row) for row in rows[first]]


def image_of(values: np.ndarray, n_patches: int) -> np.ndarray:
    """Pixels in [0, 1], patch by patch, as an image (height, width, channels) of bytes."""
    grid = math.isqrt(n_patches)
    per_patch = len(values) // n_patches
    channels = 1 if math.isqrt(per_patch) ** 2 == per_patch else 3
    side = math.isqrt(per_patch // channels)
    pixels = values.reshape(grid, grid, side, side, channels).transpose(0, 2, 1, 3, 4)
    image: np.ndarray = (
        (255 * pixels.reshape(grid * side, grid * side, channels)).round().astype(np.uint8)
    )
    return image


def encode_png(image: np.ndarray) -> str:
    """An image (height, width, 1 or 3) of bytes as a PNG in base64."""
    height, width, channels = image.shape
    colour = {1: 0, 3: 2}[channels]
    lines = b"".join(b"\0" + line.tobytes() for line in image)  # 0: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    content = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return base64.b64encode(content).decode("ascii")
