"""What the page says against itself is what the store shows."""

from __future__ import annotations

from bench_stores import record
from hyperdfs.bench.cells import CellRecord
from hyperdfs.bench.table import tabulate
from hyperdfs.bench.table_grid import Grid, Row
from hyperdfs.report.benchmark.limits import checks, limits, paper_notes


def cell(dataset: str, label: str, score: float, *, max_rows: int | None = None) -> CellRecord:
    curve = [0.0, 0.1, score, score]
    return record(dataset, label, curve, n_folds=1, max_rows=max_rows)


def told(cells: list[CellRecord]) -> str:
    return " ".join(text for _, text in limits(tabulate(cells), cells))


def test_a_store_without_gaps_has_no_limits_of_this_kind() -> None:
    assert told([cell("a", "vip", 0.5), cell("a", "moe", 0.6)]) == ""


def test_sets_on_which_not_all_methods_ran_are_named() -> None:
    ours = [cell(name, "hyperdfs", 0.7) for name in "abcde"]
    rivals = [cell(name, label, 0.6) for name in "abc" for label in ("vip", "moe")]
    text = told([*ours, *rivals, cell("d", "vip", 0.5)])
    assert text.startswith(
        "On 2 of 5 data sets not every method compared has finished: 1 of the 3 on e; "
        "2 of the 3 on d."
    )


def test_a_cap_on_rows_is_told() -> None:
    cells = [cell("b", "vip", 0.5, max_rows=20_000), cell("a", "vip", 0.5, max_rows=20_000)]
    assert "At most 20,000 rows of a, b each, with the classes" in told(cells)


def test_an_oracle_below_a_method_is_explained() -> None:
    above = told([cell("a", "oracle", 0.9), cell("a", "vip", 0.5)])
    assert "predicts the most probable class" in above
    assert "Here a method is above it" not in above
    below = told([cell("a", "oracle", 0.5), cell("a", "vip", 0.6), cell("b", "vip", 0.6)])
    assert below.endswith("Here a method is above it on a.")


def test_checks_are_counted_by_cells() -> None:
    asked, other = cell("a", "vip", 0.5), cell("a", "full", 0.5)
    asked.checks = {"leak": True, "split": True}
    other.checks = {"split": False}
    assert checks([asked, other]) == (
        "leak: 1 of 2 cells (1 not asked); split: 1 of 2 cells (1 failed)"
    )


def test_notes_on_the_paper_are_said_once() -> None:
    verdicts = {"a": "no: other rows", "b": "yes", "c": "no: other rows", "d": "yes: with blanks"}
    rows = [Row(name, [], verdict) for name, verdict in verdicts.items()]
    found = paper_notes(Grid("Tables", [], [*rows, Row("Mean", [], average=True)]))
    assert [(note.datasets, note.comparable, note.why) for note in found] == [
        (["a", "c"], False, "other rows"),
        (["d"], True, "with blanks"),
    ]
