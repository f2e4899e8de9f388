"""The catalog: names, sizes, class shares, seeds and messages."""

from __future__ import annotations

import numpy as np
import pytest

from hyperdfs.datasets import dataset_info, dataset_names, load_dataset
from hyperdfs.errors import InputError

SYNTHETIC = dataset_names("synthetic")


def test_names_cover_the_specified_sets() -> None:
    expected = "synpairs proxysub cube cube03 cube_s cube_s03 syn1 syn2 syn3 syn4 syn5 syn6"
    expected += " syn3_paper syn5_paper syn6_paper sefa1 sefa2 sefa3 sim1r sim2r sim3r"
    assert set(expected.split()) == set(SYNTHETIC)
    paper = "wine heart cirrhosis yeast metabric bank california diabetes130 miniboone"
    others = "nhanes_diabetes nhanes_glucose pima hepatitis thyroid"
    assert set(dataset_names("table")) == {*paper.split(), *others.split()}
    assert set(dataset_names("images")) == {
        *("mnist", "fashion_mnist", "svhn", "pcam", "imagenette")
    }
    assert set(SYNTHETIC) < set(dataset_names())


@pytest.mark.parametrize("name", SYNTHETIC)
def test_shape_and_fields(name: str) -> None:
    data, info = load_dataset(name, n_samples=300), dataset_info(name)
    assert data.X.shape == (300, info.n_features)
    assert list(data.X.columns[:2]) == ["x1", "x2"]
    assert data.y.dtype == np.int64
    assert set(np.unique(data.y)) == set(range(info.n_classes))
    assert data.features.names == tuple(data.X.columns)
    assert data.costs.tolist() == [1.0] * info.n_features
    assert data.oracle is not None
    assert all([data.licence, data.source, data.description])


@pytest.mark.parametrize("name", SYNTHETIC)
def test_majority_share_to_three_digits(name: str) -> None:
    info, n = dataset_info(name), 400_000
    assert info.family is not None
    _, y = info.family.draw(np.random.default_rng(11), n)
    shares = np.bincount(y, minlength=info.n_classes) / n
    p = info.majority_share
    # The published share is rounded to three digits; with equal shares the majority is by chance.
    slack = 0.0005 + 3.0 * np.sqrt(p * (1 - p) / n)
    majority = shares[shares.argmax()] if info.n_classes == 2 else shares[0]
    assert abs(majority - p) < slack


@pytest.mark.parametrize(
    ("name", "majority"), [("syn2", 1), ("syn3_paper", 0), ("syn4", 1), ("sim3r", 0)]
)
def test_orientation_of_the_labels(name: str, majority: int) -> None:
    """P(y=0|x) = σ(L) in the INVASE family: a flipped label would leave the shares intact."""
    assert np.bincount(load_dataset(name).y).argmax() == majority


@pytest.mark.parametrize("name", ["synpairs", "proxysub", "cube", "cube_s", "syn5"])
def test_the_seed_decides_everything(name: str) -> None:
    first, again, other = (load_dataset(name, seed, 200) for seed in (3, 3, 4))
    assert first.X.equals(again.X)
    assert np.array_equal(first.y, again.y)
    assert not first.X.equals(other.X)


def test_cube_columns_follow_the_class_bits() -> None:
    data = load_dataset("cube", n_samples=40_000)
    X = data.X.to_numpy()
    for c in range(8):
        rows = X[data.y == c]
        for j in range(3):
            assert abs(rows[:, c + j].mean() - ((c >> j) & 1)) < 0.01
            assert abs(rows[:, c + j].std() - 0.1) < 0.01
        others = np.delete(rows, [c, c + 1, c + 2], axis=1)
        assert abs(others.mean() - 0.5) < 0.01
        assert abs(others.std() - 0.3) < 0.01


def test_uniform_distractors_stay_in_the_unit_interval() -> None:
    X = load_dataset("cube_s03").X.to_numpy()
    assert X[:, 10:].min() >= 0
    assert X[:, 10:].max() < 1
    assert X[:, :10].min() < -0.3


def test_proxies_have_their_noise() -> None:
    X = load_dataset("proxysub", n_samples=100_000).X.to_numpy()
    expected = np.sqrt([1.01, 1.25, 2.0, 7.25, 26.0, 1, 1, 1, 1, 1])
    assert np.allclose(X.std(axis=0), expected, rtol=0.02)


def test_wine() -> None:
    data = load_dataset("wine")
    assert data.X.shape == (178, 13)
    assert np.bincount(data.y).tolist() == [59, 71, 48]
    assert data.X.columns[0] == "alcohol"
    assert data.oracle is None
    assert data.class_names == ("class_0", "class_1", "class_2")
    assert data.kind == "table"


def test_unknown_name_offers_close_ones_and_the_list() -> None:
    with pytest.raises(InputError, match=r"'synpair'.*synpairs.*hyperdfs datasets"):
        load_dataset("synpair")


@pytest.mark.parametrize("n_samples", [0, -1, 2.5, True])
def test_bad_sample_count(n_samples: float) -> None:
    with pytest.raises(InputError, match=f"positive integer, got n_samples={n_samples!r}"):
        load_dataset("cube", n_samples=n_samples)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 0.5, None])
def test_bad_seed(seed: float | None) -> None:
    with pytest.raises(InputError, match=f"seed must be .* got seed={seed!r}"):
        load_dataset("cube", seed=seed)  # type: ignore[arg-type]


def test_bad_kind() -> None:
    with pytest.raises(InputError, match="kind='sound'"):
        dataset_names("sound")
