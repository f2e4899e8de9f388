"""Tables as text: CSV for programs, Markdown for documents. LaTeX has a file of its own."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from hyperdfs.bench.paper import published
from hyperdfs.bench.table import Results, ranks
from hyperdfs.bench.table_block import block_of
from hyperdfs.bench.table_grid import Cell, Grid

CSV_COLUMNS = (
    *("dataset", "method", "mean", "std", "n_folds", "fit_seconds"),
    *("wanted_folds", "max_rows", "constant_f1", "paper_mean", "paper_std", "comparable", "note"),
    *("kind", "group", "ranked", "lacks", "rank"),
)
COMPARABLE = "Comparable with the paper"


def to_csv(results: Results) -> str:
    """One line per data set and method; the unit of `mean` and `std` is that of the other tables.

    The paper's columns are empty where it has no such number, and the rank where a score takes no
    part in the mean ranks: those of a kind of data are the means of its ranks here.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    labels, rank = results.labels, _ranks(results)
    for dataset in results.datasets:
        for label in labels:
            score = results.scores.get((dataset, label))
            if score is None:
                continue
            auac = results.metric == "f1_macro"
            row = score.counterpart if auac else None
            paper = (
                published(score.source, score.method) if auac and label == score.method else None
            )
            writer.writerow(
                [
                    *(dataset, label, f"{score.mean:.4f}", f"{score.std:.4f}"),
                    *(score.n_folds, f"{score.fit_seconds:.3f}", score.wanted_folds),
                    score.max_rows or "",
                    "" if math.isnan(score.constant_f1) else f"{score.constant_f1:.4f}",
                    *((paper.mean, paper.std) if paper else ("", "")),
                    *(("yes" if row.comparable else "no", row.note) if row else ("", "")),
                    *(score.kind, score.group.name, "yes" if score.ranked else "no", score.lacks),
                    rank.get((dataset, label), ""),
                ]
            )
    return text.getvalue()


def _ranks(results: Results) -> dict[tuple[str, str], float]:
    """Places that the mean ranks of each kind of data are made of."""
    found = {}
    for kind in {score.kind for score in results.scores.values()}:
        part = results.of_kind(kind)
        block = block_of(part)
        if len(block.labels) < 2:
            continue
        places = ranks(
            part.matrix(block.datasets, block.labels),
            higher_is_better=results.spec.higher_is_better,
        )
        for dataset, row in zip(block.datasets, places.tolist(), strict=True):
            found.update({(dataset, m): r for m, r in zip(block.labels, row, strict=True)})
    return found


def to_markdown(grids: Sequence[Grid], legend: Sequence[str]) -> str:
    """Tables in GitHub's dialect, one after the other."""
    blocks = []
    for grid in grids:
        beside = _says(grid)
        heads = ["Data set", *(column.label for column in grid.columns)]
        heads += [COMPARABLE] if beside else []
        lines = [_pipe(heads), _pipe(["---", *["---:"] * len(grid.columns), *["---"] * beside])]
        for row in grid.rows:
            name = f"*{row.name}*" if row.average else _plain(row.name)
            cells = [_markdown_cell(cell) for cell in row.cells]
            lines.append(_pipe([name, *cells, *[_plain(row.paper)] * beside]))
        blocks.append("\n".join([f"### {grid.title}", "", *lines, "", *grid.notes]))
    return "\n\n".join([*blocks, "\n".join(legend)]) + "\n"


def _pipe(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    return text.replace("|", r"\|")


def _says(grid: Grid) -> bool:
    """Whether any row has something to say about the paper."""
    return any(row.paper for row in grid.rows)


def _markdown_cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    text = f"{cell.mean} ± {cell.std}" if cell.std else cell.mean
    text = f"**{text}**" if cell.group_best else text
    extras = (" ★" * cell.best, f" [{cell.lacks}]" * bool(cell.lacks))
    return "".join([text, *extras, f" ({cell.paper})" * bool(cell.paper)])
