"""The table as text: what a program reads, and what a document includes."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from bench_stores import record, write_store
from hyperdfs.bench.cells import CellKey, CellRecord, read_records, write_cell
from hyperdfs.bench.table import Results, tabulate
from hyperdfs.bench.table_grid import grids, legend
from hyperdfs.bench.table_text import to_csv, to_markdown
from hyperdfs.cli.bench_table import Format, blocks, table
from hyperdfs.errors import InputError

SCORES = {
    ("wine", "vip"): 0.5,
    ("wine", "repa"): 0.7,
    ("wine", "static_mlp"): 0.6,
    ("wine", "hyperdfs"): 0.8,
    ("diabetes130", "vip"): 0.3,
    ("diabetes130", "repa"): 0.2,
    ("diabetes130", "static_mlp"): 0.4,
    ("diabetes130", "hyperdfs"): 0.35,
    ("cube", "vip"): 0.7,
    ("cube", "hyperdfs"): 0.9,
}


def cells() -> list[CellRecord]:
    return [
        record(
            dataset,
            label,
            [0.1, 0.2, value + step, value + step, value + step],
            fold=fold,
            kind="synthetic" if dataset == "cube" else "table",
        )
        for (dataset, label), value in SCORES.items()
        for fold, step in enumerate((-0.01, 0.01))
        if (dataset, label, fold) != ("diabetes130", "repa", 1)
    ]


@pytest.fixture
def results() -> Results:
    return tabulate(cells())


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return write_store(tmp_path / "store", cells())


def test_csv_starts_with_the_agreed_columns(results: Results) -> None:
    text = to_csv(results)
    assert text.startswith("dataset,method,mean,std,n_folds,fit_seconds,")
    rows = {(row["dataset"], row["method"]): row for row in csv.DictReader(io.StringIO(text))}
    assert set(rows) == set(SCORES)
    wine = rows["wine", "vip"]
    assert (float(wine["mean"]), float(wine["std"])) == (pytest.approx(50), pytest.approx(1))
    assert (wine["n_folds"], wine["fit_seconds"]) == ("2", "2.000")
    assert (wine["paper_mean"], wine["comparable"], wine["note"]) == ("92.32", "no", "2 folds")
    assert rows["diabetes130", "vip"]["comparable"] == "no"
    assert rows["diabetes130", "repa"]["n_folds"] == "1"
    assert rows["wine", "static_mlp"]["paper_mean"] == ""


def test_mean_ranks_are_means_of_the_csvs_ranks(results: Results) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(results))))
    for grid in grids(results):
        block = [row for row in rows if row["dataset"] in {r.name for r in grid.rows}]
        mean_rank = next(row for row in grid.rows if row.name == "Mean rank")
        for column, cell in zip(grid.columns, mean_rank.cells, strict=True):
            places = [float(r["rank"]) for r in block if r["method"] == column.label and r["rank"]]
            assert (f"{sum(places) / len(places):.2f}" if places else None) == (cell and cell.mean)
    told = {(row["dataset"], row["method"]): row for row in rows}
    assert told["diabetes130", "repa"]["lacks"] == "1/2"
    assert told["cube", "vip"]["kind"] == "synthetic"
    assert told["wine", "hyperdfs"]["group"] == "ours"
    assert {row["ranked"] for row in rows} == {"yes"}
    reference = tabulate([*cells(), record("wine", "oracle", [0.1, 0.9, 0.9])])
    last = [row for row in csv.DictReader(io.StringIO(to_csv(reference))) if row["rank"] == ""]
    assert {(row["method"], row["ranked"]) for row in last} >= {("oracle", "no"), ("repa", "yes")}


def markdown_rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_markdown_has_marks_paper_and_missing_folds(results: Results) -> None:
    text = to_markdown(grids(results), legend(results))
    rows = markdown_rows(text)
    head = next(row for row in rows if "repa" in row)
    wine = dict(zip(head, next(row for row in rows if row[0] == "wine"), strict=True))
    assert wine["repa"] == "**70.00 ± 1.00** (94.95)"  # best of two in its group
    assert wine["hyperdfs"] == "80.00 ± 1.00 ★ (93.31)"
    assert wine["constant"] == "25.00"
    assert wine["Comparable with the paper"] == "no: 2 folds"
    diabetes = dict(zip(head, next(row for row in rows if row[0] == "diabetes130"), strict=True))
    assert diabetes["repa"].startswith("19.00 ± 0.00 [1/2]")
    assert "**" not in diabetes["vip"]  # its only finished rival in the group is itself
    assert diabetes["static_mlp"].endswith("★")
    assert diabetes["Comparable with the paper"].startswith("no: other data")
    assert "only k of n folds" in text
    assert "(1 = best of 3): over the 2 data sets that these methods have finished." in text
    assert "repa is left out of means, ranks and tests" in text
    assert rows[-1] == ["*Mean rank*", "1.50 ★", "", "3.00", "", "1.50 ★", ""]


def test_the_majoritys_macro_f1_stands_in_for_no_other_metric() -> None:
    one = [*cells(), record("wine", "constant", [0.2, 0.2, 0.2], n_folds=1)]
    for metric, shown in (("f1_macro", "25.00"), ("seconds", "")):
        rows = markdown_rows(to_markdown(grids(tabulate(one, metric=metric)), []))
        head = next(row for row in rows if "constant" in row and "repa" in row)
        row = next(row for row in rows if row[0] == "diabetes130")
        assert dict(zip(head, row, strict=True))["constant"] == shown


def test_a_metric_in_nats_has_three_decimals() -> None:
    cell = record("wine", "vip", [0.1, 0.2, 0.4321], n_folds=1)
    cell.curves["log_loss"] = cell.curves["f1_macro"]
    for metric, shown in (("log_loss", "0.432"), ("f1_macro", "43.21")):
        [grid] = grids(tabulate([cell], metric=metric))
        assert grid.rows[0].cells[0] is not None
        assert grid.rows[0].cells[0].mean == shown


def test_every_table_is_rectangular(results: Results) -> None:
    for block in to_markdown(grids(results), legend(results)).split("### ")[1:]:
        assert len({len(row) for row in markdown_rows(block)}) == 1


def test_one_method_has_no_rank() -> None:
    alone = grids(tabulate(cells(), methods=["vip"]))[0]
    assert [row.name for row in alone.rows] == ["cube", "Mean"]
    assert alone.notes == ["Mean: over the one data set."]
    text = to_csv(tabulate(cells(), methods=["vip"]))
    assert {row["rank"] for row in csv.DictReader(io.StringIO(text))} == {""}


def test_the_overall_grid_averages_all_kinds(results: Results) -> None:
    last = grids(results)[-1]
    assert last.title == "Tables"  # all methods share wine alone
    both = tabulate(cells(), methods=["vip", "hyperdfs"])
    last = grids(both)[-1]
    assert [row.name for row in last.rows] == ["Mean", "Mean rank"]
    assert [cell.mean for cell in last.rows[0].cells if cell] == ["68.33", "50.00"]
    assert [cell.mean for cell in last.rows[1].cells if cell] == ["1.00", "2.00"]


def show(store: Path, **options: object) -> None:
    defaults = {"format": Format.rich, "metric": "f1_macro"}
    empty = {"datasets": None, "methods": None, "group": None}
    table(store, **{**defaults, **empty, **options})  # type: ignore[arg-type]


def test_a_narrow_terminal_gets_blocks_that_fit(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    show(store)
    text = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert max(map(len, text.splitlines())) <= 50
    assert "…" not in text
    assert "★80.0±1.0" in text
    assert "(93.3)" in text


def test_blocks_keep_every_column_once() -> None:
    widths = [9, 12, 30, 9, 9]
    found = blocks(widths, room=40)
    assert [i for block in found for i in block] == list(range(5))


def test_csv_through_the_command(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(store, format=Format.csv, methods="vip", datasets="synthetic")
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_bad_questions_get_one_sentence(store: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no results"):
        show(tmp_path / "nowhere")
    with pytest.raises(InputError, match="--methods must name stored results, got 'vipp'"):
        show(store, methods="vipp")
    with pytest.raises(InputError, match="--group must be one of ours, literature"):
        show(store, group="mine")
    with pytest.raises(InputError, match="got 'auroc'; there are f1_macro, log_loss"):
        show(store, metric="auroc")
    with pytest.raises(InputError, match="matches all of"):
        show(store, methods="vip", group="ours")


def test_a_store_of_failures_says_so(tmp_path: Path) -> None:
    key = CellKey(dataset="wine", label="vip", fold=0)
    write_cell(tmp_path, CellRecord(key=key, status="failed", method="vip", error="boom"))
    assert read_records(tmp_path)
    with pytest.raises(InputError, match=r"All 1 results .* failed"):
        show(tmp_path)
