"""The table before it is drawn: data sets down, methods across, the paper's numbers beside ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from hyperdfs.bench.paper import PAPER, published
from hyperdfs.bench.table import KIND_TITLES, Results, Score
from hyperdfs.bench.table_block import Averages, averages, beside_paper
from hyperdfs.bench.table_groups import CONSTANT, GROUPS, group_of

MEAN, RANK = "Mean", "Mean rank"
COMPARABLE_MEAN, COMPARABLE_RANK = "Mean, paper's sets", "Mean rank, paper's sets"


@dataclass(frozen=True)
class Column:
    """A method; `group` is the title of its group."""

    label: str
    group: str


@dataclass(frozen=True)
class Cell:
    """One number with its spread, and the paper's beside it. `mark`: best of its group, or of all.

    `lacks` is filled where something is still to be run: ``3/5`` folds are done, or ``seeds``.
    """

    mean: str
    std: str = ""
    paper: str = ""
    group_best: bool = False
    best: bool = False
    lacks: str = ""


@dataclass(frozen=True)
class Row:
    """A data set, or an average over several; `paper` says whether its numbers compare, and why."""

    name: str
    cells: Sequence[Cell | None]
    paper: str = ""
    comparable: bool = True
    average: bool = False


@dataclass(frozen=True)
class Grid:
    """One table and the sentences below it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = ()

    def spans(self) -> list[tuple[str, int]]:
        """Titles of the groups and how many columns each has, in order."""
        runs = groupby(column.group for column in self.columns)
        return [(title, len(list(run))) for title, run in runs]


def verdicts(rows: Sequence[Row]) -> dict[str, list[str]]:
    """What there is to say beside the paper's numbers, and of which data sets."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.paper.partition(": ")[2]:
            found.setdefault(row.paper, []).append(row.name)
    return found


def grids(results: Results, *, decimals: int | None = None) -> list[Grid]:
    """A grid for each kind of data, and the averages over all if these span several kinds.

    Without `decimals` there are two, or as many as the metric has on a screen if that is more.
    """
    if decimals is None:
        decimals = max(2, results.spec.decimals)
    kind_of = {score.dataset: score.kind for score in results.scores.values()}
    kinds = list(dict.fromkeys(kind_of[dataset] for dataset in results.datasets))
    tables = [_grid(results.of_kind(kind), kind, decimals) for kind in kinds]
    if len({kind_of[dataset] for dataset in averages(results).datasets}) > 1:
        tables.append(_overall(results, decimals))
    return tables


def legend(results: Results) -> list[str]:
    """What the reader of any of the grids must know."""
    unit = " in %" if results.spec.percent else ""
    way = "" if results.spec.higher_is_better else "; lower is better"
    lines = [
        f"{results.spec.title}{unit}, {results.spec.what}{way}: mean ± standard deviation over"
        " folds (ddof=0). ★ best of all, bold: best of its group."
    ]
    lacking = {score.lacks for score in results.scores.values()} - {""}
    if lacking - {"seeds"}:
        lines.append("[k/n]: only k of n folds are done; not part of means and ranks.")
    if "seeds" in lacking:
        lines.append("[seeds]: some folds lack seeds of others; not part of means and ranks.")
    if any(
        cell and cell.paper for grid in grids(results) for row in grid.rows for cell in row.cells
    ):
        lines.append(f"In parentheses: the number published in {PAPER}.")
    if results.failed:
        count = len(results.failed)
        lines.append(f"{count} cell{'s' if count > 1 else ''} failed.")
    return lines


def _grid(results: Results, kind: str, decimals: int) -> Grid:
    columns = _columns(results)
    rows = [_row(results, dataset, columns, decimals) for dataset in results.datasets]
    means = averages(results)
    rows += _average_rows(results, means, columns, decimals)
    notes = _notes(results, means)
    shared = beside_paper(results)
    if shared is not None:
        rows += _paper_rows(*shared, columns, decimals)
        notes.append(_paper_note(shared[0]))
    return Grid(KIND_TITLES.get(kind, kind), columns, rows, notes)


def _overall(results: Results, decimals: int) -> Grid:
    means = averages(results)
    columns = [Column(label, _group(results, label)) for label in means.block.labels]
    rows = _average_rows(results, means, columns, decimals)
    return Grid("All kinds of data", columns, rows, _notes(results, means))


def _columns(results: Results) -> list[Column]:
    columns = [Column(label, _group(results, label)) for label in results.labels]
    known = any(not math.isnan(score.constant_f1) for score in results.scores.values())
    if results.metric != "f1_macro" or not known or CONSTANT in results.labels:
        return columns
    # The score of predicting the training majority comes with every cell: no method has to run.
    group = group_of(CONSTANT)
    before = [c for c in columns if c.group in _titles_before(group.title)]
    return [*before, Column(CONSTANT, group.title), *columns[len(before) :]]


def _titles_before(title: str) -> list[str]:
    titles = [group.title for group in GROUPS]
    return titles[: titles.index(title)]


def _group(results: Results, label: str) -> str:
    return next(s.group.title for s in results.scores.values() if s.label == label)


def _row(results: Results, dataset: str, columns: Sequence[Column], decimals: int) -> Row:
    scores = [results.scores.get((dataset, column.label)) for column in columns]
    cells = [None if s is None else _cell(s, results.metric, decimals) for s in scores]
    known = [score for score in scores if score is not None]
    for i, column in enumerate(columns):
        if column.label == CONSTANT and scores[i] is None and results.metric == "f1_macro":
            values = [s.constant_f1 for s in known if not math.isnan(s.constant_f1)]
            cells[i] = Cell(f"{values[0]:.{decimals}f}") if values else None
    _mark(cells, scores, columns, higher=results.spec.higher_is_better)
    strictest = min(known, key=lambda score: score.imputed)
    row = strictest.counterpart if results.metric == "f1_macro" else None
    if row is None:
        return Row(dataset, cells)
    return Row(dataset, cells, row.verdict(), row.comparable)


def _cell(score: Score, metric: str, decimals: int) -> Cell:
    paper = published(score.source, score.method) if metric == "f1_macro" else None
    shown = paper is not None and score.label == score.method
    return Cell(
        f"{score.mean:.{decimals}f}",
        f"{score.std:.{decimals}f}",
        f"{paper.mean:.{decimals}f}" if paper and shown else "",
        lacks=score.lacks,
    )


def _mark(
    cells: list[Cell | None],
    scores: Sequence[Score | None],
    columns: Sequence[Column],
    *,
    higher: bool,
) -> None:
    """Mark the best of all and of each group that has a choice, among finished ranked scores."""
    rivals = {
        i: score.mean if higher else -score.mean
        for i, score in enumerate(scores)
        if score is not None and score.ranked and score.complete
    }
    _mark_best(cells, rivals, columns)


def _mark_best(
    cells: list[Cell | None], rivals: dict[int, float], columns: Sequence[Column]
) -> None:
    for i, value in rivals.items():
        group = [v for j, v in rivals.items() if columns[j].group == columns[i].group]
        cell = cells[i]
        assert cell is not None
        cells[i] = replace(
            cell,
            group_best=len(group) > 1 and value == max(group),
            best=len(rivals) > 1 and value == max(rivals.values()),
        )


def _average_rows(
    results: Results, means: Averages, columns: Sequence[Column], decimals: int
) -> list[Row]:
    if not means.datasets:
        return []
    sign = 1 if results.spec.higher_is_better else -1
    rows, kinds = [], [(MEAN, means.mean, sign), (RANK, means.rank, -1)]
    for name, values, better in kinds if len(means.rank) > 1 else kinds[:1]:
        cells: list[Cell | None] = [
            Cell(f"{values[c.label]:.{decimals}f}") if c.label in values else None for c in columns
        ]
        rivals = {i: better * values[c.label] for i, c in enumerate(columns) if c.label in values}
        _mark_best(cells, rivals, columns)
        rows.append(Row(name, cells, average=True))
    return rows


def _paper_rows(
    ours: Averages, paper: Averages, columns: Sequence[Column], decimals: int
) -> list[Row]:
    """Means and ranks over what the paper has too, and its own in parentheses."""
    rows = []
    for name, values, printed, sign in (
        (COMPARABLE_MEAN, ours.mean, paper.mean, 1),
        (COMPARABLE_RANK, ours.rank, paper.rank, -1),
    ):
        cells: list[Cell | None] = [
            Cell(f"{values[c.label]:.{decimals}f}", paper=f"{printed[c.label]:.{decimals}f}")
            if c.label in values
            else None
            for c in columns
        ]
        rivals = {i: sign * values[c.label] for i, c in enumerate(columns) if c.label in values}
        _mark_best(cells, rivals, columns)
        rows.append(Row(name, cells, average=True))
    return rows


def _paper_note(shared: Averages) -> str:
    return (
        f"The paper's sets: {', '.join(shared.datasets)}, where scores can be compared with those "
        f"of the paper, among the {len(shared.rank)} methods that it has too; in parentheses "
        "the paper's, computed from its scores on the same sets."
    )


def _notes(results: Results, means: Averages) -> list[str]:
    if not results.ranked_labels():
        return []
    n_shared, n_all = len(means.datasets), len(results.datasets)
    if not n_shared:
        return ["No mean and no rank: no data set is finished by two methods."]
    which = f"the {n_shared} data sets" if n_shared > 1 else "the one data set"
    rest = "" if n_shared == n_all else f" of {n_all}"
    who = "these methods" if means.block.left_out else "all ranked methods"
    if len(means.rank) == 1:
        line = f"{MEAN}: over {which}{rest}."
    else:
        line = (
            f"{MEAN} and {RANK.lower()} (1 = best of {len(means.rank)}): over {which}{rest} that "
            f"{who} have finished."
        )
    return [line, *filter(None, [means.block.absent()])]
