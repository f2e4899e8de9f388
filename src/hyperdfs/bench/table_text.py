"""Tables as text: CSV for programs, Markdown and LaTeX for documents."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from hyperdfs.bench.paper import published
from hyperdfs.bench.table import Results
from hyperdfs.bench.table_grid import Cell, Grid, Row

CSV_COLUMNS = (
    *("dataset", "method", "mean", "std", "n_folds", "fit_seconds"),
    *("wanted_folds", "max_rows", "constant_f1", "paper_mean", "paper_std", "comparable", "note"),
)
COMPARABLE = "Comparable with the paper"


def to_csv(results: Results) -> str:
    """One line per data set and method; the unit of `mean` and `std` is that of the other tables.

    The paper's columns are empty where it has no such number.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    labels = results.labels
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
                ]
            )
    return text.getvalue()


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


def to_latex(grids: Sequence[Grid], legend: Sequence[str]) -> str:
    """`table*` environments for a document that loads booktabs."""
    head = ["% needs \\usepackage{booktabs} and, for wide tables, \\usepackage{graphicx}"]
    return "\n".join([*head, *(_latex_table(grid, legend) for grid in grids)]) + "\n"


def _latex_table(grid: Grid, legend: Sequence[str]) -> str:
    beside = _says(grid)
    spec = "l" + "r" * len(grid.columns) + "l" * beside
    spans = [f"\\multicolumn{{{n}}}{{c}}{{{latex_escape(title)}}}" for title, n in grid.spans()]
    rules, at = [], 2
    for _, n in grid.spans():
        rules.append(f"\\cmidrule(lr){{{at}-{at + n - 1}}}")
        at += n
    heads = ["Data set", *(latex_escape(c.label) for c in grid.columns)]
    body = [_latex_row(row, beside) for row in grid.rows if not row.average]
    foot = [_latex_row(row, beside) for row in grid.rows if row.average]
    caption = latex_escape(" ".join([f"{grid.title}.", *legend, *grid.notes]))
    return "\n".join(
        [
            "\\begin{table*}",
            "\\centering",
            f"\\caption{{{caption}}}",
            "\\resizebox{\\textwidth}{!}{%",
            f"\\begin{{tabular}}{{{spec}}}",
            "\\toprule",
            " & ".join(["", *spans, *[""] * beside]) + " \\\\",
            "".join(rules),
            " & ".join([*heads, *[COMPARABLE] * beside]) + " \\\\",
            "\\midrule",
            *body,
            *(["\\midrule"] if body and foot else []),
            *foot,
            "\\bottomrule",
            "\\end{tabular}}",
            "\\end{table*}",
        ]
    )


def _latex_row(row: Row, beside: bool) -> str:
    cells = [_latex_cell(cell) for cell in row.cells]
    return (
        " & ".join([latex_escape(row.name), *cells, *[latex_escape(row.paper)] * beside]) + " \\\\"
    )


def _latex_cell(cell: Cell | None) -> str:
    if cell is None:
        return "--"
    text = f"\\textbf{{{cell.mean}}}" if cell.group_best else cell.mean
    text += f" {{\\scriptsize$\\pm${cell.std}}}" if cell.std else ""
    text += "$^\\star$" if cell.best else ""
    text += f" {{\\scriptsize[{cell.lacks}]}}" if cell.lacks else ""
    return text + (f" {{\\scriptsize({cell.paper})}}" if cell.paper else "")


LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "±": "$\\pm$",
    "★": "$\\star$",
    "<": "$<$",
    ">": "$>$",
}


def latex_escape(text: str) -> str:
    r"""Text that LaTeX sets as it stands.

    >>> latex_escape("static_mlp 5 %")
    'static\\_mlp 5 \\%'
    """
    return "".join(LATEX.get(sign, sign) for sign in text)
