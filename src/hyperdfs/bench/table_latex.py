"""Tables as LaTeX, made for paper: methods down, at most six data sets across."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from hyperdfs.bench.table_grid import Cell, Grid, Row, verdicts

MOST_ACROSS = 6  # data sets; with more the print is too small to read


@dataclass(frozen=True)
class Part:
    """Some rows of a grid, which become the columns of one table."""

    grid: Grid
    rows: Sequence[Row]
    number: int
    of: int

    @property
    def is_last(self) -> bool:
        return self.number == self.of


def to_latex(grids: Sequence[Grid], legend: Sequence[str]) -> str:
    """`table*` environments for a document that loads booktabs and graphicx.

    The first caption explains the signs, the last one of each kind of data its means.
    """
    parts = [part for grid in grids for part in _parts(grid)]
    tables = [_table(part, [] if i else legend) for i, part in enumerate(parts)]
    return "\n".join(["% needs \\usepackage{booktabs} and \\usepackage{graphicx}", *tables]) + "\n"


def _parts(grid: Grid) -> Iterator[Part]:
    """Averages go with the last of the data sets."""
    averages = [row for row in grid.rows if row.average]
    rows = [row for row in grid.rows if not row.average]
    starts = range(0, max(1, len(rows)), MOST_ACROSS)
    for number, start in enumerate(starts, 1):
        shown = rows[start : start + MOST_ACROSS]
        yield Part(grid, shown + averages * (number == len(starts)), number, len(starts))


def _table(part: Part, legend: Sequence[str]) -> str:
    heads = ["Method", *(latex_escape(row.name) for row in part.rows)]
    body = []
    for _, group in groupby(enumerate(part.grid.columns), key=lambda item: item[1].group):
        body.append("\\midrule")
        for i, column in group:
            cells = [row.cells[i] for row in part.rows]
            if any(cells):
                body.append(_line([latex_escape(column.label), *map(_cell, cells)]))
    return "\n".join(
        [
            "\\begin{table*}",
            "\\centering",
            f"\\caption{{{latex_escape(_caption(part, legend))}}}",
            # As wide as it is, unless the page is narrower.
            "\\resizebox{\\ifdim\\width>\\textwidth\\textwidth\\else\\width\\fi}{!}{%",
            f"\\begin{{tabular}}{{l{'r' * len(part.rows)}}}",
            "\\toprule",
            _line(heads),
            *_without_empty_groups(body),
            "\\bottomrule",
            "\\end{tabular}}",
            "\\end{table*}",
        ]
    )


def _without_empty_groups(body: Sequence[str]) -> list[str]:
    """A rule stands only before a method."""
    pairs = zip(body, [*body[1:], "\\midrule"], strict=True)
    return [line for line, after in pairs if (line, after) != ("\\midrule", "\\midrule")]


def _caption(part: Part, legend: Sequence[str]) -> str:
    title = part.grid.title + (f", part {part.number} of {part.of}" if part.of > 1 else "")
    told = [f"{', '.join(names)}: {text}." for text, names in verdicts(part.rows).items()]
    beside = ["Comparable with the paper?", *told] if told else []
    return " ".join([f"{title}.", *legend, *beside, *(part.grid.notes if part.is_last else [])])


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + " \\\\"


def _cell(cell: Cell | None) -> str:
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
