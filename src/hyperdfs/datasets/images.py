"""Image sets as grids of patches, training and test part pooled."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from hyperdfs.datasets.base import DatasetInfo, IntArray, RawData
from hyperdfs.datasets.files import Alternatives, DataFile, cached
from hyperdfs.datasets.patches import PatchGrid
from hyperdfs.datasets.reading import file_entry
from hyperdfs.datasets.sampling import stratified_rows
from hyperdfs.errors import InputError, MissingExtraError

DIGITS = tuple("0123456789")
MNIST_GRID = PatchGrid(rows=7, columns=7, side=4)
SVHN_GRID = PatchGrid(rows=8, columns=8, side=4, channels=3)
PCAM_GRID = PatchGrid(rows=8, columns=8, side=12)
PCAM_ROWS = 50_000
PCAM_PARTS = (2**18, 2**15, 2**15)  # images of training, validation and test


def _pooled(
    grid: PatchGrid,
    images: Sequence[np.ndarray],
    labels: Sequence[np.ndarray],
    class_names: tuple[str, ...],
) -> RawData:
    """Training and test part one after the other."""
    y = np.concatenate(labels).astype(np.int64)
    if len(y) and not 0 <= y.min() <= y.max() < len(class_names):
        raise InputError(f"its labels go from {y.min()} to {y.max()}")
    X = grid.table(np.concatenate(images))
    return RawData(X, y, class_names, grid.features(), n_train=len(labels[0]))


def read_mnist_like(paths: tuple[Path, ...], class_names: tuple[str, ...]) -> RawData:
    """One .npz with x_train, y_train, x_test, y_test, or the four original idx files."""
    if len(paths) == 1:
        # numpy leaves a damaged file open when it has opened it itself.
        with paths[0].open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            parts = [arrays[key] for key in ("x_train", "y_train", "x_test", "y_test")]
    else:
        parts = [read_idx(path) for path in paths]
    x_train, y_train, x_test, y_test = parts
    return _pooled(MNIST_GRID, [x_train, x_test], [y_train, y_test], class_names)


def read_idx(path: Path) -> np.ndarray:
    """An array of bytes in the idx format: two zeros, type, rank, big-endian sizes, values."""
    content = gzip.decompress(path.read_bytes())
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise InputError(f"{path.name} is no idx file of bytes")
    rank = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=rank, offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * rank).reshape(shape)


def read_svhn(paths: tuple[Path, ...]) -> RawData:
    """The two .mat files: X (32, 32, 3, n), y (n, 1), where 10 stands for the digit 0."""
    from scipy.io import loadmat

    contents = [loadmat(path, variable_names=["X", "y"]) for path in paths]
    images = [content["X"].transpose(3, 0, 1, 2) for content in contents]
    labels = [content["y"].ravel() % 10 for content in contents]
    return _pooled(SVHN_GRID, images, labels, DIGITS)


def read_pcam(
    paths: tuple[Path, ...], n_rows: int = PCAM_ROWS, parts: tuple[int, ...] | None = None
) -> RawData:
    """Three pairs of HDF5 files; a stratified sample of their rows, in grey.

    Grey is the mean of red, green and blue. The sample is always the same. ``parts`` are the
    numbers of images that the files must hold: the sample has its size whatever they are.
    """
    h5py = _need_h5py()
    paths = tuple(_unzipped(path) for path in paths)
    labels = []
    for path in paths[1::2]:
        with h5py.File(path) as file:
            labels.append(file["y"][:].ravel().astype(np.int64))
    found = tuple(map(len, labels))
    if parts not in (None, found):
        raise InputError(f"its parts have {found} images where {parts} are known")
    chosen = stratified_rows(np.concatenate(labels), n_rows)
    starts = np.cumsum([0, *map(len, labels)])
    sums = np.concatenate(
        [
            _rgb_sums(path, chosen[(chosen >= start) & (chosen < stop)] - start)
            for path, start, stop in zip(paths[::2], starts, starts[1:], strict=False)
        ]
    )
    return RawData(
        X=PCAM_GRID.table(sums, white=3 * 255),
        y=np.concatenate(labels)[chosen],
        class_names=("normal", "tumour"),
        features=PCAM_GRID.features(),
        n_train=int((chosen < starts[1]).sum()),
    )


def _rgb_sums(path: Path, rows: IntArray, block: int = 1024) -> np.ndarray:
    """Red + green + blue of some images, read block by block: a file may exceed the memory."""
    with _need_h5py().File(path) as file:
        images = file["x"]
        sums = np.empty((len(rows), *images.shape[1:3]), dtype=np.uint16)
        for first in range(0, len(images), block):
            here = (rows >= first) & (rows < first + block)
            if here.any():
                part = images[first : first + block][rows[here] - first]
                sums[here] = part.sum(axis=-1, dtype=np.uint16)
    return sums


def _unzipped(path: Path) -> Path:
    """HDF5 needs random access, so a .gz is unpacked into the cache once."""
    if path.suffix != ".gz":
        return path

    def unpack(target: Path) -> None:
        with gzip.open(path) as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)

    return cached(path.stem, unpack)


def _need_h5py() -> ModuleType:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("reading PCam needs h5py; install hyperdfs[images]") from None
    return h5py


_FASHION_HOME = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
_FASHION_FILES = (
    *("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    *("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
)
_FASHION_CLASSES = (
    *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
)
_POOLED = "Training and test part are pooled for cross-validation; the first rows are the former."
# The names are those of the files behind them: in the publisher's README the checksums of valid
# and test are exchanged.
_PCAM_MD5 = {
    "train_x": "1571f514728f59376b705fc836ff4b63",
    "train_y": "35c2d7259d906cfc8143347bb8e05be7",
    "valid_x": "d5b63470df7cfa627aeec8b9dc0c066e",
    "valid_y": "2b85f58b927af9964a4c15b8f7e8f179",
    "test_x": "d8c2d60d490dbd479f8199bdfa0cf6ec",
    "test_y": "60a7035772fbdb7f34eb86d4420cf66a",
}
_PCAM_NAMES = {f"camelyonpatch_level_2_split_{part}.h5": md5 for part, md5 in _PCAM_MD5.items()}
_PCAM_HOME = "https://zenodo.org/records/2546921/files"
_PCAM_FILES: Alternatives = (
    tuple(DataFile(name) for name in _PCAM_NAMES),
    tuple(
        DataFile(f"{name}.gz", f"md5:{md5}", f"{_PCAM_HOME}/{name}.gz")
        for name, md5 in _PCAM_NAMES.items()
    ),
)

MNIST = file_entry(
    lambda paths: read_mnist_like(paths, DIGITS),
    name="mnist",
    kind="images",
    description="MNIST: handwritten digits, 49 patches of 4×4 pixels",
    n_features=49,
    class_counts=dict(
        zip(DIGITS, (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958), strict=True)
    ),
    licence="CC BY-SA 3.0 as far as known",
    source="http://yann.lecun.com/exdb/mnist",
    files=(
        (
            DataFile(
                "mnist.npz",
                "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
                "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
            ),
        ),
    ),
    target="digit",
    notes=(_POOLED,),
    content="a98964f6cc43f6c835883105d5ec6994b0a208114e31a273dd38d5094eb39f6f",
)

FASHION_MNIST = file_entry(
    lambda paths: read_mnist_like(paths, _FASHION_CLASSES),
    name="fashion_mnist",
    kind="images",
    description="Fashion-MNIST: articles of clothing, 49 patches of 4×4 pixels",
    n_features=49,
    class_counts=dict.fromkeys(_FASHION_CLASSES, 7000),
    licence="MIT",
    source="https://github.com/zalandoresearch/fashion-mnist",
    files=(
        (
            DataFile(
                "fashion_mnist.npz",
                "5b6d2c4c694a91887af8ab7d039c04f80af3c29378d731c93a538d2e831aa469",
            ),
        ),
        tuple(
            DataFile(f"fashion-mnist/{name}", url=f"{_FASHION_HOME}/{name}")
            for name in _FASHION_FILES
        ),
    ),
    target="article",
    notes=(_POOLED,),
    content="30acb352f65975432d72f6f35c199196674cc77b82dae22903828cabfe921cd4",
)

SVHN = file_entry(
    read_svhn,
    name="svhn",
    kind="images",
    description="SVHN: cropped house numbers in colour, 64 patches of 4×4 pixels",
    n_features=64,
    class_counts=dict(
        zip(DIGITS, (6692, 18960, 14734, 11379, 9981, 9266, 7704, 7614, 6705, 6254), strict=True)
    ),
    licence="for non-commercial use only",
    source="http://ufldl.stanford.edu/housenumbers",
    files=(
        tuple(
            DataFile(name, f"md5:{md5}", f"http://ufldl.stanford.edu/housenumbers/{name}")
            for name, md5 in (
                ("train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373"),
                ("test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3"),
            )
        ),
    ),
    target="digit",
    notes=(
        _POOLED,
        "The 531,131 extra images are not used.",
        "The paper trains Hyper-DFS with 3 masks in a batch here, the presets are the same for all "
        "data: say config = {masks_per_batch = 3} in a plan.",
    ),
)

PCAM = file_entry(
    lambda paths: read_pcam(paths, parts=PCAM_PARTS),
    name="pcam",
    kind="images",
    description="PatchCamelyon: tumour in tissue, 64 grey patches of 12×12 pixels",
    n_rows=PCAM_ROWS,
    n_features=64,
    n_classes=2,
    majority_share=0.5,
    licence="CC0",
    source="https://zenodo.org/records/2546921",
    files=_PCAM_FILES,
    target="tumour",
    notes=(
        "A stratified sample of 50,000 of the 327,680 images; it is the same in every run.",
        "Grey is the mean of the three channels: the paper's 144 values per patch leave room for "
        "one channel only.",
        "The label depends on the central 32×32 pixels alone: patches in rows and columns 2 to 5.",
    ),
)

PATCH_SETS: list[DatasetInfo] = [MNIST, FASHION_MNIST, SVHN, PCAM]
