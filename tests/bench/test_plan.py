"""Plans: what a file and the options of a command ask for, and which cells follow."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from hyperdfs.bench.choices import Choice, choose, load_source, members
from hyperdfs.bench.plan import QUICK_ROWS, Plan, cells, left_out, read_plan
from hyperdfs.datasets import dataset_info, dataset_names
from hyperdfs.errors import DataNotFoundError, InputError

PLAN = """
datasets = ["wine", "own.toml"]
methods = ["raw", "random"]
folds = 3
seeds = 2
profile = "quick"

[variants.raw]
method = "hyperdfs"
preset = "paper"
config = {encoder = "raw_mask"}

[variants.unused]
method = "hyperens"

[slurm]
slurm_partition = "cpu"
"""


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    table = pd.DataFrame({"a": range(30), "b": range(30), "ill": ["no", "yes"] * 15})
    table.to_csv(tmp_path / "own.csv", index=False)
    (tmp_path / "own.toml").write_text('target = "ill"\nname = "mine"\n')
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def test_the_cells_of_a_file(plan_file: Path):
    plan = read_plan(plan_file)
    chosen, left_out = choose(plan.datasets)
    tasks = cells(plan, chosen)
    assert left_out == {}
    assert len({task.key for task in tasks}) == len(tasks) == 2 * 2 * 3 * 2
    assert {task.key.dataset for task in tasks} == {"wine", "mine"}
    assert {(t.key.label, t.method, t.preset) for t in tasks} == {
        ("raw", "hyperdfs", "paper"),
        ("random", "random", "default"),
    }
    [raw, *_] = [task for task in tasks if task.key.label == "raw"]
    assert raw.config()["encoder"] == "raw_mask"
    assert {task.n_folds for task in tasks} == {3}
    [own, *_] = [task.source for task in tasks if task.key.dataset == "mine"]
    assert Path(own).is_absolute()  # workers may run in another folder
    # Stopped early, every method has been run on every data set.
    assert {(t.key.fold, t.key.seed) for t in tasks[:4]} == {(0, 0)}
    assert plan.slurm == {"slurm_partition": "cpu"}


def test_options_replace_what_the_file_says(plan_file: Path):
    plan = read_plan(plan_file, methods=("unused",), datasets=("cube",), folds=2, seeds=None)
    assert list(plan.rows_of()) == ["unused"]
    assert (plan.datasets, plan.folds, plan.seeds) == (("cube",), 2, 2)


def test_without_methods_all_variants_are_meant():
    plan = Plan(datasets=("wine",), variants={"a": {"method": "random"}, "b": {"method": "random"}})
    assert list(plan.rows_of()) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("datasets = [", "is no TOML file"),
        ("methods = ['random']", "at least one data set"),
        ("methods = ['random']\ndatasets = []", "at least one data set"),
        ("datasets = ['wine']", "at least one method"),
        ("datasets = ['wine']\nmethods = ['nothing']", "methods must be among .*, got 'nothing'"),
        ("datasets = ['wine']\nfolds = 1", "'folds' cannot be 1"),
        ("datasets = ['wine']\nfold = 3", "no key 'fold'; did you mean 'folds'?"),
        ("datasets = 'wine,heart'", r'write datasets = \["wine", "heart"\]'),
        ("datasets = ['wine']\n[variants.a]\nmethod = 'random'\npreset = 'x'", "preset must be"),
        ("datasets = ['wine']\n[variants.a]\nmethod = 'x'", "method must be one of"),
        ("datasets = ['wine']\n[variants.a]\nmethod = 'random'\nconfig = {x = 1}", "no field 'x'"),
        ("datasets = ['wine']\n[variants.vip]\nmethod = 'random'", "the name of another method"),
        ("datasets = ['wine']\n[variants.'a/b']\nmethod = 'random'", "letters, digits"),
        ("datasets = ['wine']\n[variants.'..']\nmethod = 'random'", "letters, digits"),
    ],
)
def test_mistakes_in_a_plan_are_told_before_anything_runs(tmp_path: Path, text: str, message: str):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_plan(path).rows_of()


def test_a_plan_that_is_not_there(tmp_path: Path):
    with pytest.raises(DataNotFoundError, match="There is no plan"):
        read_plan(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("profile", "n_rows", "cap"),
    [
        ("full", 10**6, None),
        ("quick", QUICK_ROWS, None),
        ("quick", QUICK_ROWS + 1, QUICK_ROWS),
    ],
)
def test_only_large_sets_are_capped(profile: str, n_rows: int, cap: int | None):
    plan = Plan(datasets=("big",), methods=("random",), profile=profile)
    tasks = cells(plan, [Choice("big", "big", n_rows, n_rows)])
    assert {task.key.max_rows for task in tasks} == {cap}


@pytest.mark.parametrize(("name", "largest"), [("wine", 71), ("own.toml", 15)])
def test_no_more_folds_than_rows_of_the_largest_class(name: str, largest: int, plan_file: Path):
    source = str(plan_file.with_name(name)) if name.endswith(".toml") else name
    choices, _ = choose([source])
    assert cells(Plan(datasets=(source,), methods=("random",), folds=largest), choices)
    with pytest.raises(InputError, match=f"largest class, {largest} in .*, got {largest + 1}"):
        cells(Plan(datasets=(source,), methods=("random",), folds=largest + 1), choices)


def test_the_oracle_is_told_the_generator_and_passes_over_real_data(plan_file: Path):
    plan = Plan(
        datasets=("synpairs", "wine", "cube", str(plan_file.with_name("own.toml"))),
        methods=("oracle", "random", "fixed"),
        variants={"fixed": {"method": "oracle", "config": {"dataset": "cube"}}},
        folds=2,
    )
    chosen, _ = choose(plan.datasets)
    tasks = cells(plan, chosen)
    told = {(t.key.label, t.key.dataset): t.config().get("dataset") for t in tasks}
    assert told == {
        ("oracle", "synpairs"): "synpairs",
        ("oracle", "cube"): "cube",
        ("fixed", "synpairs"): "cube",  # what a variant says stays
        ("fixed", "cube"): "cube",
        **{("random", name): None for name in ("synpairs", "wine", "cube", "mine")},
    }
    assert left_out(plan, chosen) == {"oracle": ["wine", "mine"], "fixed": ["wine", "mine"]}
    with pytest.raises(InputError, match=r"'oracle' can .* synthetic data only, .* got 'wine'"):
        cells(Plan(datasets=("wine",), methods=("oracle",)), choose(["wine"])[0])


def test_groups_mean_what_is_at_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    chosen, left_out = choose(["tables", "synthetic"])
    names = {choice.name for choice in chosen}
    assert {"wine", "synpairs", "cube"} <= names
    assert names | set(left_out) == {*members("tables"), *members("synthetic")}
    for name in left_out:
        assert not dataset_info(name).at_hand
    # One that is named as well must be had.
    assert "wine" in {choice.name for choice in choose(["wine", "tables"])[0]}


def test_a_group_of_which_nothing_is_at_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HYPERDFS_DATA", str(tmp_path))
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache")
    with pytest.raises(InputError, match=r"must be at hand, but 'mnist', .* are not; `hyperd"):
        choose(["images"])
    with pytest.raises(DataNotFoundError, match=r"put bank\.csv\.gz or bank\.csv into"):
        choose(["wine", "bank"])  # named, so it is not left out


def test_the_paper_is_a_group_of_known_names():
    assert {"synpairs", "cube", "wine", "bank"} <= set(members("paper")) <= set(dataset_names())


def test_a_table_with_its_published_prices_is_a_data_set_of_its_own():
    if not dataset_info("heart").at_hand:
        pytest.skip("needs heart.csv.gz in $HYPERDFS_DATA")
    chosen, _ = choose(["heart", "heart@published"])
    assert [choice.name for choice in chosen] == ["heart", "heart@published"]
    assert set(load_source("heart").costs) == {1.0}
    assert len(set(load_source("heart@published").costs)) > 1
    with pytest.raises(InputError, match="no published prices"):
        choose(["wine@published"])


def test_a_wrong_name_and_two_of_one_name(plan_file: Path, tmp_path: Path):
    with pytest.raises(InputError, match="did you mean wine"):
        choose(["wien"])
    other = tmp_path / "other"
    other.mkdir()
    for name in ("own.csv", "own.toml"):
        (other / name).write_bytes((tmp_path / name).read_bytes())
    with pytest.raises(InputError, match="must not share a name, got 'mine'"):
        choose([str(tmp_path / "own.toml"), str(other / "own.toml")])
