"""What the commands share on the screen: consoles, tables, bars and JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

BAR_WIDTH = 20


def stdout() -> Console:
    """The console of results; as wide as it takes when its output goes to a file."""
    console = Console(highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(highlight=False, emoji=False, width=160, no_color=True)
    return console


def stderr() -> Console:
    """The console of notes that are not the result."""
    return Console(stderr=True, highlight=False, emoji=False)


def warn(sentence: str) -> None:
    """A line on standard error about what goes on nevertheless."""
    print(f"hyperdfs: warning: {' '.join(sentence.split())}", file=sys.stderr)


def listing_table(*headings: str) -> Table:
    """A table without frame; a heading that starts with ``>`` is set to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for heading in headings:
        right = heading.startswith(">")
        table.add_column(heading.removeprefix(">"), justify="right" if right else "left")
    return table


def curve_table(columns: Mapping[str, Mapping[int, float]]) -> Table:
    """Purchases down, curves across, in percent."""
    table = listing_table(">Bought", *(f">{title}" for title in columns))
    first = next(iter(columns.values()))
    for budget in first:
        table.add_row(str(budget), *(f"{100 * curve[budget]:.1f}" for curve in columns.values()))
    return table


def bar(share: float, width: int = BAR_WIDTH) -> str:
    """``0..1`` as a bar of fixed width.

    >>> bar(0.5, width=4)
    '██··'
    """
    full = round(max(0.0, min(1.0, share)) * width)
    return "█" * full + "·" * (width - full)


def class_bars(
    classes: Sequence[Any], proba: Sequence[float], before: Sequence[float] | None = None
) -> list[str]:
    """One line per class, the likeliest first and at most five: bar, percent and the move."""
    width = max(cell_len(str(label)) for label in classes)  # some characters take two places
    lines = []
    for i in sorted(range(len(proba)), key=lambda i: -proba[i])[:5]:
        blanks = " " * (width - cell_len(str(classes[i])))
        line = f"{blanks}{classes[i]}  {bar(proba[i])} {100 * proba[i]:5.1f} %"
        if before is not None and abs(proba[i] - before[i]) >= 0.0005:
            line += f"  {100 * (proba[i] - before[i]):+.1f}"
        lines.append(line)
    if len(proba) > 5:
        lines.append(f"{'':>{width}}  and {len(proba) - 5} less likely")
    return lines


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A number and what it counts.

    >>> counted(1, "row"), counted(2000, "row"), counted(0, "category", "categories")
    ('1 row', '2,000 rows', '0 categories')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def without_label(n: int) -> str:
    """What became of rows that have no label."""
    return f"{counted(n, 'row')} without a label {'was' if n == 1 else 'were'} left out"


def number(value: Any) -> str:
    """A value as a person would write it.

    >>> number(0.123456), number(240.0), number("F")
    ('0.1235', '240', 'F')
    """
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def print_json(content: Any) -> None:
    """JSON on standard output; NaN has no place in it and becomes null."""
    json.dump(_finite(content), sys.stdout, indent=2, allow_nan=False, ensure_ascii=False)
    sys.stdout.write("\n")


def _finite(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {str(key): _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    if hasattr(content, "item"):
        content = content.item()
    return None if isinstance(content, float) and content != content else content
