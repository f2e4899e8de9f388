"""MiniBooNE, NHANES and the priced tables; formats that are not at hand are written here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from need_files import need

from hyperdfs.datasets import dataset_info, load_dataset
from hyperdfs.datasets.more_tables import read_miniboone, read_nhanes_diabetes
from hyperdfs.datasets.prices import HEART
from hyperdfs.errors import InputError

PRICED = {"heart": "heart", "pima": "pima", "hepatitis": "hepatitis", "thyroid": "thyroid_ann"}


@pytest.mark.parametrize(
    ("name", "rows", "features", "missing"),
    [
        ("nhanes_glucose", 13_124, 28, 93_137),
        ("pima", 768, 8, 652),
        ("hepatitis", 155, 19, 167),
        ("thyroid", 7200, 21, 0),
    ],
)
def test_sizes(name: str, rows: int, features: int, missing: int) -> None:
    need(name)
    data = load_dataset(name)
    assert data.X.shape == (rows, features)
    assert data.X.isna().to_numpy().sum() == missing
    counts = dict(zip(data.class_names, np.bincount(data.y).tolist(), strict=True))
    assert counts == dataset_info(name).class_counts


def test_pima_zeros_are_missing_where_they_are_impossible() -> None:
    need("pima")
    X = load_dataset("pima").X
    assert X["insulin"].min() > 0
    assert X["times_pregnant"].min() == 0


def test_answers_that_are_no_values_are_missing() -> None:
    need("nhanes_glucose")
    X = load_dataset("nhanes_glucose").X
    assert X["SMQ020"].max() == 2
    assert X["INDHHINC"].max() == 13
    assert X["ALQ120Q"].max() <= 366
    assert set(X["RIDRETH1"]) == set("12345")


def test_thyroid_from_the_two_original_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pd.read_csv(need("thyroid") / "thyroid_ann.csv.gz", dtype=str)
    ours = load_dataset("thyroid")
    for part, rows in table.groupby("split"):
        lines = [" ".join(row) + " " for row in rows.drop(columns="split").to_numpy()]
        (tmp_path / f"ann-{part}.data").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    assert load_dataset("thyroid").fingerprint == ours.fingerprint


@pytest.mark.parametrize("name", PRICED)
def test_prices_are_the_published_ones(name: str) -> None:
    path = need(name) / f"{PRICED[name]}_costs.csv"
    if not path.exists():
        pytest.skip(f"needs {path.name} in $HYPERDFS_DATA")
    published = pd.read_csv(path).set_index("feature")
    sheet = dataset_info(name).cost_sheet
    assert sheet is not None
    assert set(sheet.prices) == set(published.index)
    groups: dict[str | None, set[str]] = {}
    for feature, row in published.dropna(subset="cost").iterrows():
        price = sheet.prices[str(feature)]
        assert (price.cost, price.discounted) == (row["cost"], row["discount_cost"])
        assert price.delayed == (row["delay"] == "delayed")
        groups.setdefault(price.group, set()).add(str(row["group"]))
    assert all(len(letters) == 1 for letters in groups.values())
    data = load_dataset(name, costs="published")
    assert data.costs.tolist() == [sheet.prices[feature].cost for feature in data.features.names]


def test_prices_of_nhanes() -> None:
    path = need("nhanes_glucose") / "nhanes_diabetes_costs.csv"
    if not path.exists():
        pytest.skip(f"needs {path.name} in $HYPERDFS_DATA")
    published = pd.read_csv(path).set_index("nhanes_variable")["cost_per_column"]
    data = load_dataset("nhanes_glucose", costs="published")
    for feature, cost in zip(data.features.names, data.costs, strict=True):
        # Income got a new name and coding in 2009; the authors list the old one.
        assert cost == published[feature.replace("INDHHIN2", "INDHHINC")]


@given(st.lists(st.sampled_from(sorted(HEART.prices)), unique=True), st.randoms())
def test_a_group_is_paid_in_full_once(features: list[str], random) -> None:  # type: ignore[no-untyped-def]
    total = HEART.total(features)
    extra = {"blood": 2.10, "thallium scan": 101.90, "exercise test": 86.30}
    groups = {HEART.prices[name].group for name in features} - {None}
    discounted = sum(HEART.prices[name].discounted for name in features)
    assert total == pytest.approx(discounted + sum(extra[str(group)] for group in groups))
    random.shuffle(features)
    assert HEART.total(features) == pytest.approx(total)
    with pytest.raises(InputError, match=r"'thall' has no price.*'thal'"):
        HEART.total(["thall"])


def test_miniboone_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).normal(size=(5, 50))
    values[1, 3] = values[4, 49] = -999
    path = tmp_path / "MiniBooNE_PID.txt"
    lines = ["  2  3", *("   ".join(f"{x: .6E}" for x in row) for row in values)]
    path.write_text("\n".join(lines) + "\n")
    raw = read_miniboone((path,))
    assert raw.y.tolist() == [1, 1, 0, 0, 0]
    assert np.argwhere(raw.X.isna()).tolist() == [[1, 3], [4, 49]]
    assert np.allclose(raw.X.fillna(-999), values, atol=1e-6)
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    with pytest.raises(InputError, match="it has 5 rows where 130,064 are known"):
        load_dataset("miniboone")
    path.write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(InputError, match="promises 5 rows, 4 follow"):
        read_miniboone((path,))
    path.write_text("\n".join(lines[1:]) + "\n")
    with pytest.raises(InputError, match=r"cannot be read|two counts"):
        load_dataset("miniboone")


def test_nhanes_diabetes_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(6, 45)), columns=[f"v{i}" for i in range(45)])
    table["Outcome"] = [0, 1, 1, 2, 1, 1]
    path = tmp_path / "diabetes.csv"
    table.to_csv(path, index=False)
    raw = read_nhanes_diabetes((path,))
    assert raw.y.tolist() == [0, 1, 1, 2, 1, 1]
    assert raw.X.shape == (6, 45)
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    with pytest.raises(InputError, match="it has 6 rows where 92,062 are known"):
        load_dataset("nhanes_diabetes")
    # Another well-known file has the same name and the same target.
    table[["v0", "v1", "Outcome"]].replace({"Outcome": {2: 0}}).to_csv(path, index=False)
    with pytest.raises(InputError, match="not the file of data set 'nhanes_diabetes'"):
        load_dataset("nhanes_diabetes")
