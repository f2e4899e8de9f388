"""What the paper published, and where our rows may be held against it.

`paper_results.csv` repeats, as printed, the numbers of the tables in J. Fumanal-Idocin,
R. Fernandez-Peralta and J. Andreu-Perez, "Hypernetworks for Dynamic Feature Selection". Scores are
AUAC-F1 in percent, mean and standard deviation over folds.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

PAPER = (
    "J. Fumanal-Idocin, R. Fernandez-Peralta, J. Andreu-Perez: "
    "Hypernetworks for Dynamic Feature Selection"
)
FOLDS = 5
TABLES = ("synthetic_auac_f1", "tabular_auac_f1", "image_auac_f1")
METHODS = {
    "cwcf": "CWCF",
    "dime": "DIME",
    "eddi": "EDDI",
    "invase": "INVASE",
    "repa": "RePa",
    "sefa": "SEFA",
    "vip": "VIP",
    "aaco": "AACO",
    "cardinality": "Card.",
    "ensemble": "Ensemble",
    "moe": "MoE",
    "hyperens": "HyperEns",
    "hyperdfs": "Hyper-DFS",
}

_SIM = "our reading of its table; no published generator fits the paper's scores"
_POOLED = "5 folds of the pooled images here; the paper names both a fixed split and folds"


@dataclass(frozen=True)
class Counterpart:
    """The paper's name of a data set, and whether scores on it can be compared.

    `note` says why not or, where they can, what to keep in mind; `blanks`, whether cells of the
    table are missing.
    """

    name: str
    comparable: bool = True
    note: str = ""
    blanks: bool = False

    def verdict(self) -> str:
        """``yes``, or the answer with its reason.

        >>> Counterpart("Cube", False, "another generator").verdict()
        'no: another generator'
        """
        answer = "yes" if self.comparable else "no"
        return f"{answer}: {self.note}" if self.note else answer


@dataclass(frozen=True)
class Published:
    """A printed score in percent."""

    mean: float
    std: float


COUNTERPARTS = {
    "synpairs": Counterpart(
        "SynPairs",
        False,
        "the paper's best, 71.33, is above 70.24, that of the best plan",
    ),
    "proxysub": Counterpart("ProxySub"),
    "cube": Counterpart(
        "Cube", False, "the paper's scores lie below a fixed order on every published generator"
    ),
    "sim1r": Counterpart("Sim1", False, _SIM),
    "sim2r": Counterpart("Sim2", False, _SIM),
    "sim3r": Counterpart("Sim3", False, _SIM),
    "wine": Counterpart("Wine"),
    "heart": Counterpart("Heart"),
    "cirrhosis": Counterpart("Cirrhosis", blanks=True),
    "yeast": Counterpart("Yeast"),
    "metabric": Counterpart("Metabric", blanks=True),
    "bank": Counterpart("Bank"),
    "california": Counterpart("California", blanks=True),
    "miniboone": Counterpart("Miniboone", blanks=True),
    "diabetes130": Counterpart(
        "Diabetes", False, "other data: the paper cites this table, its scores fit NHANES only"
    ),
    "nhanes_diabetes": Counterpart(
        "Diabetes", True, "the table that fits the paper's scores, not the one it cites"
    ),
    "mnist": Counterpart("MNIST", True, _POOLED),
    "fashion_mnist": Counterpart("FashionMNIST", True, _POOLED),
    "svhn": Counterpart("SVHN", True, _POOLED),
    "imagenette": Counterpart("Imagenette", True, _POOLED),
    "pcam": Counterpart("PCam", True, "grey pixels and 50,000 images, our reading of the paper"),
}


def counterpart(
    dataset: str, *, max_rows: int | None = None, n_folds: int = FOLDS, imputed: bool = True
) -> Counterpart | None:
    """The paper's row for scores on a data set of ours; None where it has none.

    imputed : whether missing cells were filled in, as in the paper.

    >>> counterpart("wine", max_rows=100, n_folds=3).verdict()
    'no: 3 folds, at most 100 rows'
    """
    found = COUNTERPARTS.get(dataset)
    if found is None or not found.comparable:
        return found
    reasons = [f"{n_folds} folds"] if n_folds != FOLDS else []
    reasons += [f"at most {max_rows:,} rows"] if max_rows is not None else []
    if reasons:
        return replace(found, comparable=False, note=", ".join(reasons))
    if found.blanks and not imputed:
        return replace(found, note="the paper imputes missing cells, here they stay unknown")
    return found


def published(dataset: str, method: str) -> Published | None:
    """The paper's AUAC-F1 of a method on the counterpart of a data set.

    >>> published("wine", "hyperdfs")
    Published(mean=93.31, std=4.2)
    """
    row = COUNTERPARTS.get(dataset)
    if row is None or method not in METHODS:
        return None
    return _scores().get((row.name, METHODS[method]))


@cache
def _scores() -> dict[tuple[str, str], Published]:
    with files("hyperdfs.bench").joinpath("paper_results.csv").open(encoding="utf-8") as lines:
        return {
            (row["dataset"], row["method"]): Published(float(row["mean"]), float(row["std"]))
            for row in csv.DictReader(lines)
            if row["table"] in TABLES and row["std"]
        }
