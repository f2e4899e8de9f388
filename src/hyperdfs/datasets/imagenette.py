"""Imagenette: a 5×5 grid of features of a frozen ResNet-18, computed once and kept."""

from __future__ import annotations

import hashlib
import io
import pickle
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

from hyperdfs.datasets.base import DatasetInfo, RawData
from hyperdfs.datasets.files import Alternatives, DataFile, cached
from hyperdfs.datasets.patches import as_table, grouped
from hyperdfs.datasets.reading import file_entry
from hyperdfs.errors import InputError, MissingExtraError

SHORT_SIDE, CROP, GRID, CHANNELS, BATCH = 160, 128, 5, 512, 32
WEIGHTS_SHA256 = "f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec"

# ImageNet's identifiers of the ten classes, their names, and the rows of both parts together.
_CLASSES = {
    "n01440764": ("tench", 963 + 387),
    "n02102040": ("English springer", 955 + 395),
    "n02979186": ("cassette player", 993 + 357),
    "n03000684": ("chain saw", 858 + 386),
    "n03028079": ("church", 941 + 409),
    "n03394916": ("French horn", 956 + 394),
    "n03417042": ("garbage truck", 961 + 389),
    "n03425413": ("gas pump", 931 + 419),
    "n03445777": ("golf ball", 951 + 399),
    "n03888257": ("parachute", 960 + 390),
}


def read_imagenette(paths: tuple[Path, ...], weights_sha256: str | None = None) -> RawData:
    """The folder or archive ``imagenette2-160`` and the weights of the network.

    Files are ``train/<class>/<name>.JPEG`` and ``val/<class>/<name>.JPEG``.
    """
    source, weights = paths
    weights_hash = hashlib.sha256(weights.read_bytes()).hexdigest()
    if weights_sha256 not in (None, weights_hash):
        raise InputError(f"the SHA-256 of {weights.name} must be {weights_sha256}")
    files = _jpegs(source)
    names = sorted(files, key=lambda name: (name.split("/")[0] != "train", name))
    if not names:
        raise InputError(f"{source.name} holds no train/*/*.JPEG")
    codes = {identifier: code for code, identifier in enumerate(_CLASSES)}
    strange = next((name for name in names if name.split("/")[1] not in codes), None)
    if strange is not None:
        raise InputError(f"{strange} belongs to no class of Imagenette")
    # The features change with the network and with the list of images, and so does the file's name.
    key = hashlib.sha256("\n".join([weights_hash, *names]).encode()).hexdigest()[:12]
    path = cached(
        f"imagenette2-160-resnet18-{key}.npy",
        lambda target: _write_features(target, [files[name] for name in names], weights),
    )
    features = grouped(
        [f"patch_{r}_{c}" for r in range(GRID) for c in range(GRID)], CHANNELS, kind="table"
    )
    return RawData(
        X=as_table(np.load(path, allow_pickle=False), features),
        y=np.array([codes[name.split("/")[1]] for name in names], dtype=np.int64),
        class_names=tuple(name for name, _ in _CLASSES.values()),
        features=features,
        n_train=sum(name.startswith("train/") for name in names),
    )


def _jpegs(source: Path) -> dict[str, Path | bytes]:
    """``part/class/name.JPEG`` to a file on disk or to the bytes in the archive."""
    if source.is_dir():
        found = sorted(source.glob("*/*/*.JPEG"))
        return {path.relative_to(source).as_posix(): path for path in found}
    contents: dict[str, Path | bytes] = {}
    with tarfile.open(source) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".JPEG") else None
            if file is not None:
                contents["/".join(member.name.split("/")[-3:])] = file.read()
    return contents


def _write_features(target: Path, images: list[Path | bytes], weights: Path) -> None:
    from rich.console import Console
    from rich.progress import track

    from hyperdfs.nn.resnet import FrozenFeatures

    try:
        network = FrozenFeatures(weights, GRID)
    except (RuntimeError, AttributeError, pickle.UnpicklingError):
        raise InputError(f"{weights.name} does not hold the weights of a ResNet-18") from None
    features = np.empty((len(images), GRID * GRID * CHANNELS), dtype=np.float32)
    console = Console(stderr=True)
    starts = range(0, len(images), BATCH)
    for first in track(
        starts, "features", console=console, transient=True, disable=not console.is_terminal
    ):
        batch = np.stack([_decode(image) for image in images[first : first + BATCH]])
        features[first : first + BATCH] = network(batch).reshape(len(batch), -1)
    with target.open("wb") as file:
        np.save(file, features)


def _decode(image: Path | bytes) -> np.ndarray:
    """Short side 160, then the central 128×128 pixels, in colour."""
    pillow = _need_pillow()
    with pillow.open(io.BytesIO(image) if isinstance(image, bytes) else image) as opened:
        picture = opened.convert("RGB")
    scale = SHORT_SIDE / min(picture.size)
    if scale != 1:
        size = tuple(max(SHORT_SIDE, round(scale * side)) for side in picture.size)
        picture = picture.resize(size, pillow.Resampling.BILINEAR)
    left, top = ((side - CROP) // 2 for side in picture.size)
    return np.asarray(picture.crop((left, top, left + CROP, top + CROP)))


def _need_pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtraError("reading JPEG needs pillow; install hyperdfs[images]") from None
    return Image


_WEIGHTS = DataFile(
    "resnet18-f37072fd.pth",
    WEIGHTS_SHA256,
    "https://download.pytorch.org/models/resnet18-f37072fd.pth",
)
_FILES: Alternatives = (
    (DataFile("imagenette2-160"), _WEIGHTS),
    (
        DataFile(
            "imagenette2-160.tgz",
            "md5:e793b78cc4c9e9a4ccc0c1155377a412",
            "https://s3.amazonaws.com/fast-ai-imageclas/imagenette2-160.tgz",
        ),
        _WEIGHTS,
    ),
)

IMAGENETTE: DatasetInfo = file_entry(
    lambda paths: read_imagenette(paths, WEIGHTS_SHA256),
    name="imagenette",
    kind="images",
    description="Imagenette: ten easy classes of ImageNet, 25 places of a frozen ResNet-18's map",
    n_features=GRID * GRID,
    class_counts=dict(_CLASSES.values()),
    licence="Apache-2.0 (selection); the images under ImageNet's terms of access",
    source="https://github.com/fastai/imagenette",
    files=_FILES,
    target="class",
    notes=(
        "160-pixel version, central 128×128 pixels; the last feature map of ResNet-18, 4×4 for an "
        "image of that size, is averaged to 5×5 by overlapping windows. 512 columns per feature.",
        "The network has seen these classes, and many of these images, when it was trained on "
        "ImageNet.",
        "Features are computed once and kept in the cache folder (690 MB).",
        "Columns are no pixels: each is standardised by itself on training rows, as numbers are.",
    ),
)
