"""The table as LaTeX, and its rows that stand beside the paper's averages."""

from __future__ import annotations

import re

import pytest

from bench_stores import record
from hyperdfs.bench.cells import CellRecord
from hyperdfs.bench.paper import published
from hyperdfs.bench.table import Results, tabulate
from hyperdfs.bench.table_block import beside_paper
from hyperdfs.bench.table_grid import grids, legend
from hyperdfs.bench.table_latex import MOST_ACROSS, latex_escape, to_latex

METHODS = {"vip": 0.5, "repa": 0.7, "static_mlp": 0.6, "hyperdfs": 0.8, "oracle": 0.9}
TABLES = ["wine", "heart", "bank", "yeast", "diabetes130", "pima", "thyroid", "hepatitis"]


def cells(folds: int = 5) -> list[CellRecord]:
    return [
        record(
            dataset,
            label,
            [0.1, 0.2, value + 0.01 * place, value, value],
            fold=fold,
            n_folds=folds,
            kind="synthetic" if dataset == "cube" else "table",
        )
        for place, dataset in enumerate([*TABLES, "cube"])
        for label, value in METHODS.items()
        for fold in range(folds)
    ]


@pytest.fixture
def results() -> Results:
    return tabulate(cells())


def tables(text: str) -> list[str]:
    return re.findall(r"\\begin\{table\*\}.*?\\end\{table\*\}", text, re.S)


def test_it_is_balanced_and_rectangular(results: Results) -> None:
    text = to_latex(grids(results), legend(results))
    for name in ("table*", "tabular"):
        assert text.count(f"\\begin{{{name}}}") == text.count(f"\\end{{{name}}}") == 4
    bare = re.sub(r"\\[{}&%$#_]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    for spec, body in re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", bare, re.S):
        lines = [line for line in body.splitlines() if line.endswith("\\\\")]
        assert lines
        assert {line.count("&") + 1 for line in lines} == {len(spec)}
        assert "\\midrule\n\\midrule" not in body
    assert not re.search(r"(?<!\\)%(?!\n)", text.split("\n", 1)[1])
    assert text.isascii()


def test_many_data_sets_become_several_tables(results: Results) -> None:
    synthetic, first, last, overall = tables(to_latex(grids(results), legend(results)))
    assert "cube" in synthetic
    assert "All kinds of data" in overall
    head = next(line for line in first.splitlines() if line.startswith("Method & "))
    assert head.count("&") == MOST_ACROSS
    assert "Tables, part 1 of 2" in first
    assert "Mean rank" not in first
    assert "Mean rank" in last
    rows = [line.split(" & ")[0] for line in last.splitlines() if " & " in line]
    assert rows[:4] == ["Method", "hyperdfs", "repa", "vip"]
    assert rows[4:] == ["constant", "static\\_mlp", "oracle"]


def test_what_cannot_be_compared_is_told_under_its_own_table(results: Results) -> None:
    _, *parts, _ = tables(to_latex(grids(results), legend(results)))
    told = ["diabetes130: no: other data" in part.replace("\\", "") for part in parts]
    assert told == ["diabetes130" in re.search(r"Method & .*", part)[0] for part in parts]  # type: ignore[index]


def test_latex_escapes_what_it_must() -> None:
    assert latex_escape(r"a_b & 5 % {x} \ ^~#$") == (
        r"a\_b \& 5 \% \{x\} \textbackslash{} \textasciicircum{}\textasciitilde{}\#\$"
    )


def test_the_papers_averages_are_over_the_same_sets_and_methods(results: Results) -> None:
    tables_only = results.of_kind("table")
    shared = beside_paper(tables_only)
    assert shared is not None
    ours, paper = shared
    sets = ["bank", "heart", "wine", "yeast"]  # not Diabetes, which is another table, nor Pima
    assert ours.datasets == sets
    assert set(ours.mean) == {"vip", "repa", "hyperdfs"}
    printed = [published(name, "vip") for name in sets]
    assert paper.mean["vip"] == pytest.approx(sum(p.mean for p in printed if p) / 4)
    assert sum(paper.rank.values()) == pytest.approx(1 + 2 + 3)
    assert ours.rank == {"hyperdfs": 1.0, "repa": 2.0, "vip": 3.0}
    grid = grids(results)[1]
    row = next(row for row in grid.rows if row.name == "Mean, paper's sets")
    shown = {c.label: cell for c, cell in zip(grid.columns, row.cells, strict=True)}
    assert shown["vip"] is not None
    assert shown["vip"].paper == f"{paper.mean['vip']:.2f}"
    assert shown["static_mlp"] is None


def test_other_folds_and_metrics_have_no_counterpart_in_the_paper() -> None:
    assert beside_paper(tabulate(cells(folds=3)).of_kind("table")) is None
    assert beside_paper(tabulate(cells(), metric="seconds").of_kind("table")) is None
