"""The paper's tables: what is read from the files, and what a wrong file is told."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from need_files import need

from hyperdfs.datasets import dataset_info, dataset_names, load_dataset
from hyperdfs.datasets.content import content_hash
from hyperdfs.errors import DataNotFoundError, InputError

# name -> rows, features, classes: the paper's table, and for diabetes130 what docs/ say
SIZES = {
    "wine": (178, 13, 3),
    "heart": (270, 13, 2),
    "cirrhosis": (418, 18, 3),
    "yeast": (1484, 8, 10),
    "metabric": (1904, 689, 2),
    "bank": (11162, 16, 2),
    "california": (20640, 9, 2),
    "diabetes130": (101766, 45, 3),
}
# name -> (majority share, to three digits)
SHARES = {
    **{"wine": 0.399, "heart": 0.556, "cirrhosis": 0.555, "yeast": 0.312, "metabric": 0.579},
    **{"bank": 0.526, "california": 0.500, "diabetes130": 0.539},
}


@pytest.mark.parametrize("name", SIZES)
def test_size_shares_and_fields(name: str) -> None:
    need(name)
    data, info = load_dataset(name), dataset_info(name)
    assert (len(data.X), len(data.features), data.n_classes) == SIZES[name]
    assert data.X.shape == (info.n_rows, info.n_features)
    counts = np.bincount(data.y)
    assert counts.max() / len(data.y) == pytest.approx(SHARES[name], abs=0.0006)
    assert dict(zip(data.class_names, counts.tolist(), strict=True)) == info.class_counts
    assert data.costs.tolist() == [1.0] * info.n_features
    assert info.target not in data.X.columns
    assert not set(info.dropped) & set(data.X.columns)
    assert data.kind == "table"
    assert all([data.licence, data.source, data.description])
    assert not data.X.isna().all().any()


def test_nominal_columns_are_text_and_numbers_stay_numbers() -> None:
    need("heart")
    X = load_dataset("heart").X
    text = [c for c in X.columns if not pd.api.types.is_numeric_dtype(X[c])]
    assert text == ["chest_pain_type", "resting_ecg", "thal"]
    assert set(X["thal"]) == {"3", "6", "7"}


def test_words_that_pandas_takes_for_missing_stay_categories() -> None:
    need("diabetes130")
    X = load_dataset("diabetes130").X
    assert "None" in set(X["A1Cresult"])
    assert "NA" not in set(X["weight"].dropna())
    assert X["weight"].isna().mean() > 0.9
    assert X["admission_type_id"].iloc[0] == "6"


def test_mutations_count_as_any_or_none() -> None:
    folder = need("metabric")
    X = load_dataset("metabric").X
    mutations = X[[c for c in X.columns if c.endswith("_mut")]]
    assert mutations.shape[1] == 173
    assert set(np.unique(mutations)) == {0, 1}
    raw = pd.read_csv(folder / "metabric.csv.gz", usecols=["tp53_mut"], dtype=str)
    assert mutations["tp53_mut"].sum() == (raw["tp53_mut"] != "0").sum()


def test_california_is_cut_at_the_median() -> None:
    value = pd.read_csv(need("california") / "california.csv.gz")["median_house_value"]
    assert np.array_equal(load_dataset("california").y, (value > 179_700).astype(int))


def test_missing_cells_are_missing() -> None:
    need("cirrhosis")
    assert load_dataset("cirrhosis").X.isna().to_numpy().sum() == 1033


@pytest.mark.parametrize("name", ["heart", "yeast", "cirrhosis", "bank", "california"])
def test_the_original_file_gives_the_same_table(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written as its publisher does: separators, header and missing values."""
    folder = need(name)
    ours = load_dataset(name)
    file, original = (form[0].name for form in dataset_info(name).files)
    table = pd.read_csv(folder / file, dtype=str, keep_default_na=False)
    styles = {
        "heart": {"sep": " ", "header": False},
        "yeast": {"sep": "\t", "header": False},
        "cirrhosis": {"na_rep": "NA"},
    }
    table.replace("", None).to_csv(tmp_path / original, index=False, **styles.get(name, {}))
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    theirs = load_dataset(name)
    pd.testing.assert_frame_equal(ours.X, theirs.X)
    assert ours.fingerprint == theirs.fingerprint


@pytest.fixture
def heart_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of the heart file; what `write_heart` writes is then found in its place."""
    content = (need("heart") / "heart.csv.gz").read_bytes()
    lines = gzip.decompress(content).decode().splitlines()
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    return lines


def write_heart(folder: Path, lines: list[str]) -> None:
    (folder / "heart.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: lines[:-1], "269 rows where 270 are known"),
        (lambda lines: [*lines[:-1], lines[-1][:-1] + "1"], "rows of class 'absence'"),
        (lambda lines: [*lines[:-1], lines[-1][:-1] + "7"], "holds '7', which is no class"),
        (lambda lines: [lines[0].replace("thal", "thallium"), *lines[1:]], "no column 'thal'"),
        (lambda lines: [*lines[:-1], "9" + lines[-1][1:]], "some values differ"),
        (lambda lines: [line[line.index(",") + 1 :] for line in lines], "12 features where 13"),
        (lambda lines: [""], "cannot be read"),
    ],
)
def test_a_wrong_file_is_told_apart(change, reason, heart_lines, tmp_path) -> None:  # type: ignore[no-untyped-def]
    write_heart(tmp_path, heart_lines)
    assert load_dataset("heart").n_classes == 2
    write_heart(tmp_path, change(heart_lines))
    with pytest.raises(InputError, match=f"heart.csv.gz is not the file of .*{reason}.*uci") as e:
        load_dataset("heart")
    assert "\n" not in str(e.value)


def test_an_absent_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache")
    assert not dataset_info("bank").at_hand
    with pytest.raises(DataNotFoundError, match=r"put bank.csv.gz or bank.csv into .*HYPERDFS_DA"):
        load_dataset("bank")


def test_published_prices() -> None:
    need("heart")
    priced = load_dataset("heart", costs="published")
    assert priced.costs.sum() == pytest.approx(600.57)
    assert priced.features.costs[priced.features.index("thal")] == 102.90
    assert priced.fingerprint != load_dataset("heart").fingerprint
    with pytest.raises(InputError, match=r"'wine' has no published prices; heart"):
        load_dataset("wine", costs="published")
    with pytest.raises(InputError, match="costs='free'"):
        load_dataset("heart", costs="free")


def test_the_content_hash_sees_every_change() -> None:
    table = pd.DataFrame({"a": [1.0, 2.0, None], "b": ["x", None, "y"]})
    same = content_hash(table.astype({"b": object}), [0, 1, 1])
    assert content_hash(table, [0, 1, 1]) == same
    changed = [
        (table.rename(columns={"a": "c"}), [0, 1, 1]),
        (table, [0, 1, 0]),
        (table.assign(a=[1.0, 2.0, 3.0]), [0, 1, 1]),
        (table.assign(b=["x", "y", "y"]), [0, 1, 1]),
        (table.assign(b=["x", "", "y"]), [0, 1, 1]),
        (table[["b", "a"]], [0, 1, 1]),
    ]
    hashes = {content_hash(X, y) for X, y in changed}
    assert len(hashes | {same}) == len(changed) + 1


def test_every_real_table_states_its_size() -> None:
    for name in dataset_names("table"):
        info = dataset_info(name)
        assert info.n_rows > 0
        assert info.n_features > 0
        assert 0 < info.majority_share < 1


def test_another_wine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn import datasets

    bunch = datasets.load_wine(as_frame=True)
    bunch.data.iloc[3, 2] += 0.01
    monkeypatch.setattr(datasets, "load_wine", lambda as_frame: bunch)
    with pytest.raises(InputError, match=r"not the known one: .*values differ; reinstall"):
        load_dataset("wine")
