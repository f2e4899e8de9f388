"""The drawing of mean ranks with the critical difference."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from hyperdfs.bench.statistics import Friedman
from hyperdfs.report.benchmark.content import Method
from hyperdfs.report.benchmark.svg import WIDTH, Scale, linear, num, picture


def rank_chart(test: Friedman, methods: Mapping[str, Method]) -> str:
    """Mean ranks, best on top; bars on the right join methods that are not told apart.

    Rows are not of the class `s`, which the page's boxes hide: a rank is one among all.
    """
    order = sorted(range(len(test.labels)), key=lambda i: test.mean_ranks[i])
    cliques = test.cliques()
    step, top, label_width, bar = 24, 58, 108, 11
    right = 14 + bar * len(cliques)
    width = max(WIDTH, label_width + 220 + right)
    height = top + step * len(order) + 8
    x = linear(1, len(order), label_width + 12, width - right - 40)
    place = {test.labels[i]: top + step * row + step / 2 for row, i in enumerate(order)}
    parts = [_rank_axis(len(order), x, top, height), _difference_bar(test, x)]
    for i in order:
        name, rank = test.labels[i], test.mean_ranks[i]
        at = place[name]
        parts.append(
            f'<g class="{methods[name].slug}"><text class="name end" x="{label_width}" '
            f'y="{num(at + 4)}">{escape(name)}</text>'
            f'<path class="stem" d="M{num(x(1))} {num(at)}H{num(x(rank))}"/>'
            f'<circle cx="{num(x(rank))}" cy="{num(at)}" r="5"/>'
            f'<text class="tick" x="{num(x(rank) + 10)}" y="{num(at + 4)}">{rank:.2f}</text></g>'
        )
    for k, clique in enumerate(cliques):
        at = width - right + 8 + bar * k
        first, last = place[clique[0]], place[clique[-1]]
        tip = escape("not told apart: " + ", ".join(clique))
        parts.append(
            f'<path class="clique" d="M{at} {num(first - 6)}V{num(last + 6)}"><title>{tip}</title>'
            "</path>"
        )
    return picture(parts, "Mean ranks and critical difference", width, height)


def _rank_axis(n_methods: int, x: Scale, top: float, height: float) -> str:
    step = 1 if n_methods <= 10 else 2
    return "".join(
        f'<path class="grid" d="M{num(x(rank))} {top - 6}V{num(height)}"/>'
        f'<text class="tick mid" x="{num(x(rank))}" y="{top - 12}">{rank}</text>'
        for rank in range(1, n_methods + 1, step)
    )


def _difference_bar(test: Friedman, x: Scale) -> str:
    width = min(test.critical_difference, len(test.labels) - 1)
    start, end = num(x(1)), num(x(1 + width))
    return (
        f'<path class="clique" d="M{start} 24H{end}M{start} 19V29M{end} 19V29"/>'
        f'<text class="tick" x="{start}" y="13">critical difference '
        f"{test.critical_difference:.2f}</text>"
    )
