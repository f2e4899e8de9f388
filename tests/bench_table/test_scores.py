"""From cells to scores: folds, seeds, missing folds, averages and ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_stores import record
from hyperdfs.bench.cells import CellKey, CellRecord, Seconds
from hyperdfs.bench.paper import COUNTERPARTS, METHODS, counterpart, published
from hyperdfs.bench.table import ranks, tabulate
from hyperdfs.bench.table_block import averages, block_of
from hyperdfs.bench.table_grid import grids, legend
from hyperdfs.bench.table_groups import GROUP_OF, UNRANKED, group_of
from hyperdfs.errors import InputError


def flat(dataset: str, label: str, *values: float, kind: str = "table") -> list[CellRecord]:
    """One cell per value, whose AUAC is that value."""
    return [
        record(dataset, label, [0.1, 0.2, v, v, v], fold=i, n_folds=len(values), kind=kind)
        for i, v in enumerate(values)
    ]


def test_a_score_is_mean_and_population_std_over_folds_in_percent() -> None:
    score = tabulate(flat("wine", "vip", 0.5, 0.6, 0.8)).scores["wine", "vip"]
    assert score.mean == pytest.approx(100 * np.mean([0.5, 0.6, 0.8]))
    assert score.std == pytest.approx(100 * np.std([0.5, 0.6, 0.8], ddof=0))
    assert (score.n_folds, score.complete, score.fit_seconds) == (3, True, 2.0)
    assert score.constant_f1 == 25


def test_seeds_of_a_fold_are_averaged_before_the_spread() -> None:
    values = {(0, 0): 0.5, (0, 1): 0.7, (1, 0): 0.8, (1, 1): 0.8}
    cells = [
        record("wine", "vip", [0, 0, v, v, v], fold=fold, seed=seed)
        for (fold, seed), v in values.items()
    ]
    score = tabulate(cells).scores["wine", "vip"]
    assert (score.mean, score.std) == (pytest.approx(70), pytest.approx(10))
    assert score.complete
    uneven = tabulate(cells[:3])
    assert not uneven.scores["wine", "vip"].complete
    assert any(line.startswith("[seeds]") for line in legend(uneven))


def test_log_loss_keeps_its_unit_and_lower_is_better() -> None:
    cells = [*flat("wine", "vip", 0.5), *flat("wine", "moe", 0.8)]
    results = tabulate(cells, metric="log_loss")
    assert results.scores["wine", "vip"].mean == pytest.approx(0.5)
    assert averages(results).rank == {"vip": 2, "moe": 1}


def test_the_area_over_money_is_read_and_an_undefined_auroc_is_left_out() -> None:
    cells = [
        cell.model_copy(update={"cost_area": 0.3, "curves": {"auroc": [0.5, 0.5, math.nan, 0.5]}})
        for cell in flat("wine", "vip", 0.5, 0.6)
    ]
    assert tabulate(cells, metric="cost_area").scores["wine", "vip"].mean == pytest.approx(30)
    assert tabulate(cells, metric="auroc").scores == {}


def test_seconds_are_those_of_fit_and_purchases() -> None:
    slow, fast = (
        [cell.model_copy(update={"seconds": seconds}) for cell in flat("wine", name, 0.5)]
        for name, seconds in (
            ("vip", Seconds(fit_cpu=9.0, acquire_cpu=1.0, fit_wall=90.0)),
            ("moe", Seconds(fit_cpu=2.0, acquire_cpu=0.5, fit_wall=90.0)),
        )
    )
    results = tabulate([*slow, *fast], metric="seconds")
    assert results.scores["wine", "vip"].mean == pytest.approx(10.0)
    assert averages(results).rank == {"vip": 2, "moe": 1}
    assert "lower is better" in legend(results)[0]
    unknown = [cell.model_copy(update={"seconds": Seconds()}) for cell in slow]
    assert tabulate(unknown, metric="seconds").scores == {}


def test_averages_cover_only_what_all_ranked_methods_finished() -> None:
    cells = [
        *flat("bank", "vip", 0.5, 0.5),
        *flat("bank", "moe", 0.6, 0.6),
        *flat("wine", "vip", 0.9, 0.9),
        *flat("wine", "moe", 0.1, 0.1)[:1],  # one of two folds
        *flat("heart", "vip", 0.9, 0.9),  # moe has no heart
        *flat("bank", "oracle", 1.0, 1.0),  # a reference takes no part
    ]
    found = averages(tabulate(cells))
    assert found.datasets == ["bank"]
    assert found.mean == {"vip": pytest.approx(50), "moe": pytest.approx(60)}
    assert found.rank == {"vip": 2, "moe": 1}


def grid(finished: dict[str, str]) -> list[CellRecord]:
    """Methods that have finished the data sets of these letters."""
    return [cell for label, names in finished.items() for d in names for cell in flat(d, label, 1)]


@pytest.mark.parametrize(
    ("finished", "labels", "datasets"),
    [
        # A variant on one data set does not take the others' ranks away.
        ({"vip": "abcd", "moe": "abcd", "mine": "a"}, "vip moe", "abcd"),
        # Nor do many of them.
        ({"vip": "abcd", "moe": "abcd", "m1": "a", "m2": "a", "m3": "a"}, "vip moe", "abcd"),
        # One data set less for one method more is worth it, and so is the second half.
        ({"vip": "abcd", "moe": "abcd", "mine": "abc"}, "vip moe mine", "abc"),
        # A method that has finished more than the rest does not put them out.
        ({"vip": "abcdefghi", "moe": "abcd", "aaco": "abcd"}, "vip aaco moe", "abcd"),
        # Two that share nothing: both give way.
        ({"vip": "abcdef", "moe": "abcdef", "m1": "abc", "m2": "def"}, "vip moe", "abcdef"),
        ({"vip": "abc", "moe": "a"}, "vip moe", "a"),
        ({"vip": "abc"}, "vip", "abc"),
        ({"oracle": "abc"}, "", ""),
    ],
)
def test_incomplete_methods_are_left_out_where_they_cost_more(
    finished: dict[str, str], labels: str, datasets: str
) -> None:
    found = block_of(tabulate(grid(finished)))
    assert (found.labels, found.datasets) == (labels.split(), list(datasets))
    ranked = set(finished) - {"oracle"}
    assert set(found.left_out) == ranked - set(found.labels)
    assert all(label in found.absent() for label in found.left_out)


def test_a_reference_and_a_cell_that_was_not_seen_to_be_blind_have_no_rank() -> None:
    cells = [*flat("wine", "vip", 0.5, 0.5), *flat("wine", "moe", 0.6, 0.6)]
    own = flat("wine", "mine", 0.9, 0.9)
    assert averages(tabulate([*cells, *own])).rank == {"vip": 3, "moe": 2, "mine": 1}
    reference = [cell.model_copy(update={"ranked": False}) for cell in own]
    unchecked = [own[0], own[1].model_copy(update={"checks": {"split": True}})]
    for others in (reference, unchecked):
        results = tabulate([*cells, *others])
        assert averages(results).rank == {"vip": 2, "moe": 1}
        assert averages(results).block.left_out == []
        starred = [cell for cell in grids(results)[0].rows[0].cells if cell and cell.best]
        assert [cell.mean for cell in starred] == ["60.00"]
    rival = [cell.model_copy(update={"ranked": True}) for cell in flat("wine", "oracle", 0.9, 0.9)]
    assert averages(tabulate([*cells, *rival])).rank["oracle"] == 1  # the cell's word counts


def test_no_shared_data_set_means_no_average() -> None:
    found = averages(tabulate([*flat("bank", "vip", 0.5), *flat("wine", "moe", 0.6)]))
    assert (found.datasets, found.mean, found.rank) == ([], {}, {})


@given(
    st.lists(
        st.lists(st.sampled_from([0.1, 0.2, 0.3]), min_size=4, max_size=4), min_size=1, max_size=6
    )
)
def test_ranks_sum_and_order(rows: list[list[float]]) -> None:
    matrix = np.array(rows)
    found = ranks(matrix)
    assert np.allclose(found.sum(axis=1), 4 * 5 / 2)
    for values, given_ranks in zip(matrix, found, strict=True):
        for i, j in np.ndindex(4, 4):
            if values[i] > values[j]:
                assert given_ranks[i] < given_ranks[j]
            if values[i] == values[j]:
                assert given_ranks[i] == given_ranks[j]


def test_capped_and_whole_data_sets_are_two_rows_only_if_both_are_stored() -> None:
    whole = flat("bank", "vip", 0.5)
    capped = [record("bank", "vip", [0, 0, 0.4, 0.4, 0.4], n_folds=1, max_rows=50)]
    assert tabulate(capped).datasets == ["bank"]
    assert tabulate([*whole, *capped]).datasets == ["bank", "bank@50"]


def test_order_of_columns_and_data_sets() -> None:
    cells = [
        *flat("wine", "hyperdfs", 0.5),
        *flat("wine", "mine", 0.5),
        *flat("cube", "moe", 0.5, kind="synthetic"),
        *flat("bank", "vip", 0.5),
        record("bank", "vip_long", [0, 0, 1, 1], method="vip"),
        *flat("bank", "random", 0.5),
    ]
    results = tabulate(cells)
    assert results.labels == ["hyperdfs", "vip", "vip_long", "moe", "random", "mine"]
    assert results.datasets == ["cube", "bank", "wine"]


def test_failed_cells_are_counted_and_never_scored() -> None:
    key = CellKey(dataset="wine", label="vip", fold=1)
    failed = CellRecord(key=key, status="failed", method="vip", error="Traceback: no memory")
    results = tabulate([*flat("wine", "vip", 0.5, 0.6)[:1], failed])
    assert results.failed == [failed]
    assert not results.scores["wine", "vip"].complete


def test_filters() -> None:
    cells = [
        *flat("wine", "vip", 0.5),
        *flat("wine", "hyperdfs", 0.6),
        *flat("cube", "vip", 0.5, kind="synthetic"),
    ]
    assert tabulate(cells, datasets=["synthetic"]).datasets == ["cube"]
    assert tabulate(cells, methods=["vip"]).labels == ["vip"]
    assert tabulate(cells, groups=["ours"]).labels == ["hyperdfs"]
    with pytest.raises(InputError, match="--metric must be one of f1_macro"):
        tabulate(cells, metric="f2")


def test_tables_and_paper_name_groups_of_data_sets() -> None:
    cells = [*flat("wine", "vip", 0.5), *flat("pima", "vip", 0.5)]
    assert tabulate(cells, datasets=["tables"]).datasets == ["pima", "wine"]
    assert tabulate(cells, datasets=["paper"]).datasets == ["wine"]


def test_groups_agree_with_the_registry() -> None:
    """The tables know the methods without importing torch; both must say the same."""
    from hyperdfs.methods import METHODS

    names = {
        "ours": "ours",
        "single model": "literature",
        "multi-model": "multi",
        "control": "controls",
    }
    for name, method in METHODS.items():
        assert group_of(name).name == names[method.family], name
        assert (name not in UNRANKED) == method.ranked, name
    assert set(GROUP_OF) == set(METHODS)


def test_the_papers_numbers() -> None:
    # Recomputed from the printed scores: these sets' mean and ranks are in the paper's text.
    tables = ["bank", "california", "cirrhosis", "diabetes130", "heart", "metabric", "miniboone"]
    tables += ["wine", "yeast"]
    methods = list(METHODS)
    scores = [[published(d, m) for m in methods] for d in tables]
    assert all(score is not None for row in scores for score in row)
    means = np.array([[score.mean for score in row if score] for row in scores])
    by_method = dict(zip(methods, means.mean(axis=0), strict=True))
    assert by_method["hyperens"] == pytest.approx(71.61, abs=0.01)
    assert by_method["hyperdfs"] == pytest.approx(71.11, abs=0.01)
    rank = dict(zip(methods, ranks(means).mean(axis=0), strict=True))
    assert rank["hyperens"] == pytest.approx(2.94, abs=0.005)
    assert rank["eddi"] == pytest.approx(12.28, abs=0.005)
    assert published("wine", "gdfs") is None
    assert published("syn4", "vip") is None


def test_what_cannot_be_compared_says_why() -> None:
    for name in ("synpairs", "sim1r", "sim2r", "sim3r", "cube", "diabetes130"):
        assert not COUNTERPARTS[name].comparable
        assert COUNTERPARTS[name].note
    assert counterpart("syn4") is None
    capped = counterpart("california", max_rows=20_000)
    assert capped is not None
    assert capped.verdict() == "no: at most 20,000 rows"


def test_other_folds_and_missing_cells_are_told_beside_the_papers_numbers() -> None:
    def verdict(dataset: str, n_folds: int, *settings: str) -> str:
        cells = [
            cell.model_copy(update={"config": {"preprocessing": setting}})
            for setting in settings
            for cell in flat(dataset, f"vip_{setting}", *[0.5] * n_folds)
        ]
        return grids(tabulate(cells))[0].rows[0].paper

    assert verdict("wine", 5, "default") == "yes"
    assert verdict("wine", 3, "default") == "no: 3 folds"
    assert verdict("mnist", 10, "default") == "no: 10 folds"
    assert verdict("cube", 3, "default").startswith("no: the paper's scores")
    blanks = "yes: the paper imputes missing cells, here they stay unknown"
    for name in ("cirrhosis", "metabric", "california", "miniboone"):
        assert verdict(name, 5, "default") == verdict(name, 5, "paper", "default") == blanks
        assert verdict(name, 5, "paper") == "yes"
    assert verdict("cirrhosis", 3, "default") == "no: 3 folds"


@pytest.mark.parametrize(
    "name", ["wine", "heart", "cirrhosis", "yeast", "metabric", "bank", "california"]
)
def test_tables_with_missing_cells_are_known(name: str) -> None:
    from hyperdfs.datasets import dataset_info, load_dataset

    if not dataset_info(name).at_hand:
        pytest.skip(f"needs the file of {name} in $HYPERDFS_DATA")
    assert load_dataset(name).X.isna().to_numpy().any() == COUNTERPARTS[name].blanks


def test_unknown_constant_is_nan() -> None:
    cell = flat("wine", "vip", 0.5)[0].model_copy(update={"constant_f1": None})
    assert math.isnan(tabulate([cell]).scores["wine", "vip"].constant_f1)
