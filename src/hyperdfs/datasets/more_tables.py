"""MiniBooNE and NHANES, and tables outside the paper whose features have published prices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from hyperdfs.datasets import prices
from hyperdfs.datasets.base import DatasetInfo, RawData
from hyperdfs.datasets.files import DataFile
from hyperdfs.datasets.reading import Form, Table, file_entry, table_entry
from hyperdfs.datasets.tables import CC_BY, UCI, as_csv, uci_zip
from hyperdfs.errors import InputError

MINIBOONE_MISSING = -999.0


def read_miniboone(paths: tuple[Path, ...]) -> RawData:
    """The UCI text: a line with the numbers of signal and background rows, then those rows."""
    with paths[0].open() as file:
        counts = [int(word) for word in file.readline().split()]
    if len(counts) != 2:
        raise InputError("its first line must hold two counts, signal and background")
    rows = pd.read_csv(paths[0], sep=r"\s+", header=None, skiprows=1, dtype=np.float64)
    if len(rows) != sum(counts):
        raise InputError(f"its first line promises {sum(counts):,} rows, {len(rows):,} follow")
    X = rows.where(rows != MINIBOONE_MISSING)
    X.columns = pd.Index([f"pid_{i:02d}" for i in range(1, X.shape[1] + 1)])
    return RawData(X, np.repeat([1, 0], counts).astype(np.int64), ("background", "signal"))


MINIBOONE = file_entry(
    read_miniboone,
    name="miniboone",
    kind="table",
    description="MiniBooNE: electron neutrinos against background from 50 variables",
    n_features=50,
    class_counts={"background": 93_565, "signal": 36_499},
    licence=CC_BY,
    source=f"{UCI}/dataset/199/miniboone+particle+identification",
    files=((uci_zip("MiniBooNE_PID.txt", "199/miniboone+particle+identification.zip"),),),
    target="signal",
    notes=(
        "-999 stands for a value that could not be computed; here it is missing.",
        "The file holds all signal rows, then all background rows: folds must be shuffled.",
    ),
)


def read_nhanes_diabetes(paths: tuple[Path, ...]) -> RawData:
    """The CSV of the public DFS repositories: 45 columns of numbers, then Outcome in 0, 1, 2."""
    rows = Form((DataFile("diabetes.csv"),)).read(paths)
    classes = {"0": "at most 100", "1": "100 to 125", "2": "125 or more"}
    return Table(target="Outcome", classes=classes).split(rows)


NHANES_DIABETES = file_entry(
    read_nhanes_diabetes,
    name="nhanes_diabetes",
    kind="table",
    description="NHANES diabetes task (Kachuee et al. 2019): fasting glucose from 45 columns",
    n_rows=92_062,
    n_features=45,
    n_classes=3,
    majority_share=0.80,
    licence="public domain (CDC/NCHS)",
    source="https://github.com/iancovert/dynamic-selection",
    files=(
        (
            DataFile(
                "diabetes.csv",
                url="https://raw.githubusercontent.com/iancovert/dynamic-selection/main/"
                "datasets/diabetes.csv",
            ),
        ),
    ),
    target="Outcome",
    notes=(
        "About 70 % of the labels are imputed: where glucose was not measured its mean, which lies "
        "in the middle class, took its place before the cut.",
        "Triglycerides and LDL were measured in the same subsample as glucose, so whether they are "
        "imputed tells whether the label is. nhanes_glucose has measured labels only.",
        "One-hot columns are features of their own, as in the literature. The class counts are not "
        "published; rows, columns and a majority share near 0.80 are verified.",
    ),
)

# Answers that are no values: refused, do not know.
_NO_ANSWER = {
    **dict.fromkeys(("INDHHINC", "INDHHIN2"), (77, 99)),
    **dict.fromkeys(("DMDEDUC2", "ALQ101", "PAQ180", "SMQ020", "BPQ020"), (7, 9)),
    **dict.fromkeys(("ALQ120Q", "SMD030"), (777, 999)),
}


def _measured_glucose(table: pd.DataFrame) -> pd.DataFrame:
    measured = table[table["LBXGLU"].notna()].reset_index(drop=True)
    glucose = measured["LBXGLU"]
    measured["LBXGLU"] = np.select([glucose <= 100, glucose >= 125], ["low", "high"], "middle")
    for column, codes in _NO_ANSWER.items():
        measured[column] = measured[column].where(~measured[column].isin(codes))
    return measured


NHANES_GLUCOSE = table_entry(
    Table(
        target="LBXGLU",
        classes={"low": "at most 100", "middle": "100 to 125", "high": "125 or more"},
        drop=("SEQN", "cycle"),
        nominal=("RIDRETH1",),
        clean=_measured_glucose,
    ),
    [
        as_csv(
            "nhanes_glucose_4cycles.csv.gz",
            "5ec83f445d8dca9b28fd3e42d5c76441c72a9ea481bb902358f127a02e474a00",
        )
    ],
    name="nhanes_glucose",
    description="NHANES, four cycles, measured labels only: fasting glucose from 28 variables",
    n_features=28,
    counts=(8692, 3351, 1081),
    licence="public domain (CDC/NCHS)",
    source="https://wwwn.cdc.gov/nchs/nhanes (2001-2006 and 2009-2010)",
    content="179e5da99a7f5dc219a858ff99ff25b506238e4bc4ef3e3f5bfe91af38be4b38",
    dropped={"SEQN": "numbers the participants", "cycle": "names the years of the survey"},
    cost_sheet=prices.NHANES,
    notes=(
        "Not the task of the literature, which is nhanes_diabetes: 13,124 of 42,046 participants "
        "of these cycles have a measured glucose, and only they are kept.",
        "Refused and unknown answers (7, 9, 77, 99, 777, 999) are missing.",
        "Income has one column up to 2006 and another, coded differently, from 2009.",
    ),
)


def _zeros_are_missing(table: pd.DataFrame) -> pd.DataFrame:
    impossible = ["glucose_tol", "diastolic_bp", "triceps", "insulin", "mass_index"]
    return table.assign(**{name: table[name].where(table[name] != 0) for name in impossible})


PIMA = table_entry(
    Table(
        target="class",
        classes={"0": "no diabetes", "1": "diabetes"},
        clean=_zeros_are_missing,
    ),
    [
        as_csv("pima.csv.gz", "9abcb57d8166ca14d979d0551208135fb8bd7954ce32d703ec4cec75a6679ac3"),
        Form(
            (
                DataFile(
                    "pima-indians-diabetes.data.csv",
                    url="https://raw.githubusercontent.com/jbrownlee/Datasets/master/"
                    "pima-indians-diabetes.data.csv",
                ),
            ),
            columns=(
                *("times_pregnant", "glucose_tol", "diastolic_bp", "triceps", "insulin"),
                *("mass_index", "pedigree", "age", "class"),
            ),
        ),
    ],
    name="pima",
    description="Pima: onset of diabetes from 8 findings, with published prices",
    n_features=8,
    counts=(500, 268),
    licence="CC0 as far as known; withdrawn from UCI",
    source="https://www.openml.org/d/37",
    content="97a658463ea5ee46a52f71f32d0baac33eef7fc7f9958ce1b174f5491b829762",
    cost_sheet=prices.PIMA,
    notes=(
        "A zero in glucose_tol, diastolic_bp, triceps, insulin or mass_index is impossible and "
        "means missing; here it is missing (652 cells).",
    ),
)

_HEPATITIS_COLUMNS = (
    *("class", "age", "sex", "steroid", "antivirals", "fatigue", "malaise", "anorexia"),
    *("liver_big", "liver_firm", "spleen_palpable", "spiders", "ascites", "varices"),
    *("bilirubin", "alk_phosphate", "sgot", "albumin", "protime", "histology"),
)

HEPATITIS = table_entry(
    Table(target="class", classes={"1": "die", "2": "live"}),
    [
        as_csv(
            "hepatitis.csv.gz", "fa006098db3d197f3ffd78f2885d61583cd523b105a895c1031feea1911f5084"
        ),
        Form(
            (uci_zip("hepatitis.data", "46/hepatitis.zip"),),
            columns=_HEPATITIS_COLUMNS,
            missing="?",
        ),
    ],
    name="hepatitis",
    description="Hepatitis: survival from 19 findings, with published prices",
    n_features=19,
    counts=(32, 123),
    licence=CC_BY,
    source=f"{UCI}/dataset/46/hepatitis",
    content="80b985b8cc422257a3ce6e1716ee0c494bbb6825892704e8c460dbe1cd8a617f",
    cost_sheet=prices.HEPATITIS,
    notes=("155 rows, 167 cells in 15 columns are missing, protime most often.",),
)

_THYROID_COLUMNS = (
    *("age", "sex", "on_thyroxine", "query_on_thyroxine", "on_antithyroid_medication", "sick"),
    *("pregnant", "thyroid_surgery", "I131_treatment", "query_hypothyroid", "query_hyperthyroid"),
    *("lithium", "goitre", "tumor", "hypopituitary", "psych", "TSH", "T3", "TT4", "T4U", "FTI"),
    "class",
)


def _without_split(table: pd.DataFrame) -> pd.DataFrame:
    """Only our file has the column; both forms hold the 3,772 training rows first."""
    return table.drop(columns="split", errors="ignore")


THYROID = table_entry(
    Table(
        target="class",
        classes={"1": "hyperthyroid", "2": "subnormal", "3": "normal"},
        clean=_without_split,
    ),
    [
        as_csv(
            "thyroid_ann.csv.gz", "964c30a6a20836dce305f6fcd36aa8db16360f01a6c3642f6dbc596abdba28cd"
        ),
        Form(
            (
                uci_zip("ann-train.data", "102/thyroid+disease.zip"),
                uci_zip("ann-test.data", "102/thyroid+disease.zip"),
            ),
            separator=r"\s+",
            columns=_THYROID_COLUMNS,
        ),
    ],
    name="thyroid",
    description="ANN thyroid: function of the thyroid from 21 findings, with published prices",
    n_features=21,
    counts=(166, 368, 6666),
    licence=CC_BY,
    source=f"{UCI}/dataset/102/thyroid+disease",
    dropped={"split": "says which rows are the donors' training rows, and is no finding"},
    content="7f44ca1f18a8c617b69e1e89e51b69e63ebcdb450dddc6ee00354025f2e166da",
    cost_sheet=prices.THYROID,
    notes=(
        "92.6 % of the rows are normal: judge by macro-F1, not by accuracy.",
        "FTI is computed from TT4 and T4U and has no price of its own; the sheet charges both.",
        "Numbers were scaled to about [0, 1] by the donors.",
    ),
)

MORE_TABLES: list[DatasetInfo] = [
    *(MINIBOONE, NHANES_DIABETES, NHANES_GLUCOSE, PIMA, HEPATITIS, THYROID),
]
