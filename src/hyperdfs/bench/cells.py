"""A cell of the benchmark: one method on one fold of one data set, and the file that keeps it.

A cell file is a zip of `cell.json`, everything a table needs, and arrays for the rest. It is
written in one step, so a file that exists is whole.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hyperdfs.atomic import replacing
from hyperdfs.errors import InputError

SUFFIX = ".cell"
RECORD = "cell.json"
ARRAYS = ("rows", "labels", "order", "proba")


class CellKey(BaseModel):
    """What distinguishes one cell from another; `label` is the row of the tables."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    label: str  # the method's name, or that of a variant of it
    fold: int = Field(ge=0)
    seed: int = Field(0, ge=0)
    max_rows: int | None = Field(None, ge=1)  # None: the whole data set

    def path(self) -> Path:
        """Where its file lies in a store."""
        rows = "" if self.max_rows is None else f"-rows{self.max_rows}"
        return Path(self.dataset) / self.label / f"seed{self.seed}-fold{self.fold}{rows}{SUFFIX}"


class Seconds(BaseModel):
    """Where the time of a cell went.

    A decision that another cell of the same fold had taken (`hyperdfs.recall`) counts with the
    seconds it took there, so that no method looks faster for coming second.
    """

    fit_cpu: float = 0.0
    fit_wall: float = 0.0
    acquire_cpu: float = 0.0
    acquire_wall: float = 0.0
    total_wall: float = 0.0
    recalled_cpu: float = 0.0  # of these seconds, spent in another cell
    recalled_wall: float = 0.0

    @property
    def spent_wall(self) -> float:
        """What the cell itself took."""
        return self.total_wall - self.recalled_wall


class CellRecord(BaseModel):
    """What is known of a cell that ran: enough for every table and curve.

    `curves` maps a metric to its values after 0..budget purchases, `cost` is the mean money spent
    by then. A failed cell has an `error` (its traceback) and no figures.
    """

    model_config = ConfigDict(ser_json_inf_nan="constants")  # an AUROC may be undefined

    version: int = 1
    key: CellKey
    status: Literal["done", "failed"]
    error: str | None = None
    method: str
    preset: str = "default"
    config: dict[str, Any] = Field(default_factory=dict)  # the complete configuration
    ranked: bool | None = None  # as its method says; None in cells of versions that did not ask
    n_folds: int = 5
    fingerprint: str = ""  # of the data set's content
    kind: str = "table"
    n_train: int = 0
    n_test: int = 0
    n_classes: int = 0
    budget: int = 0
    feature_names: list[str] = Field(default_factory=list)
    class_names: list[str] = Field(default_factory=list)
    costs: list[float] = Field(default_factory=list)
    auac: float | None = None  # AUAC-F1, mean macro-F1 over the budgets 2..10, as a fraction
    cost_area: float | None = None  # mean macro-F1 over limits of money, see evaluation.money
    constant_f1: float | None = None  # macro-F1 of always predicting the training majority
    curves: dict[str, list[float]] = Field(default_factory=dict)
    cost: list[float] = Field(default_factory=list)
    seconds: Seconds = Field(default_factory=Seconds)
    peak_memory_mb: float = 0.0
    parameters: int = 0
    checks: dict[str, bool] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list)  # of its fit
    finished: str = ""  # ISO time

    def reason(self) -> str:
        """Why it failed: the last line of the traceback, without the path of the error's class."""
        lines = (self.error or "").strip().splitlines() or ["no reason was recorded"]
        kind, colon, sentence = lines[-1].strip().partition(": ")
        return f"{kind.rpartition('.')[2]}{colon}{sentence}" if colon else kind


@dataclass(frozen=True)
class CellArrays:
    """Per test row: its position in the data set, label, purchases and probabilities.

    rows : (n,) int32; labels : (n,) int16; order : (n, budget) int16, -1 after the last purchase;
    proba : (n, budget + 1, C) float16, or None in a slim cell, which keeps no probabilities.
    """

    rows: np.ndarray
    labels: np.ndarray
    order: np.ndarray
    proba: np.ndarray | None


def write_cell(root: Path, record: CellRecord, arrays: CellArrays | None = None) -> Path:
    """Put the cell into the store at `root`, whole or not at all."""
    path = root / record.key.path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacing(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        archive.writestr(RECORD, record.model_dump_json())
        for name in ARRAYS if arrays else ():
            array = getattr(arrays, name)
            if array is not None:
                archive.writestr(f"{name}.npy", _npy(array))
    return path


def read_record(path: Path) -> CellRecord:
    """The record of a cell file, without its arrays."""
    with _opened(path) as archive:
        try:
            return CellRecord.model_validate_json(archive.read(RECORD))
        except (KeyError, ValidationError, ValueError, zlib.error, zipfile.BadZipFile) as error:
            raise _unreadable(path) from error


def find_record(path: Path) -> CellRecord | None:
    """The record, if there is a whole one: a damaged file counts as none and is replaced."""
    try:
        return read_record(path) if path.exists() else None
    except InputError:
        return None


def read_arrays(path: Path) -> CellArrays:
    """The arrays of a finished cell."""
    with _opened(path) as archive:
        names = set(archive.namelist())
        try:
            loaded = {
                name: np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
                for name in ARRAYS
                if f"{name}.npy" in names
            }
            return CellArrays(**{"proba": None, **loaded})
        except (KeyError, TypeError, ValueError, zlib.error, zipfile.BadZipFile) as error:
            raise _unreadable(path) from error


def cell_paths(root: Path) -> list[Path]:
    """Every cell file below `root`, in a stable order."""
    return sorted(root.glob(f"*/*/*{SUFFIX}"))


def read_records(root: Path) -> list[CellRecord]:
    """The records of all cells of a store."""
    return [read_record(path) for path in cell_paths(root)]


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> InputError:
    return InputError(
        f"{path} is not a whole cell file; run its plan again, which replaces it, or delete it."
    )
