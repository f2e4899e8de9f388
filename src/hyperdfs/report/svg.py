"""Drawings as SVG text. Colours are CSS classes, so that light and dark mode share one drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from hyperdfs.report.content import Curve

GRID = (0, 20, 40, 60, 80, 100)
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 14, 44


def line_chart(curves: Sequence[Curve], *, width: int, height: int, metric: str) -> str:
    """Curves over the number of purchases, in percent; the first one carries its values."""
    budgets = sorted({b for curve in curves for b in curve.values})
    first, last = budgets[0], max(budgets[-1], budgets[0] + 1)

    def x(budget: float) -> float:
        return LEFT + (budget - first) / (last - first) * (width - LEFT - RIGHT)

    def y(share: float) -> float:
        return TOP + (1 - share) * (height - TOP - BOTTOM)

    parts = [*_axes(budgets, x, y, width, height, metric)]
    for curve in reversed(curves):  # the first is drawn on top
        parts += _curve(curve, x, y)
    parts += [_value(b, v, x, y, width) for b, v in curves[0].values.items()]
    label = escape(f"{metric} by number of bought features")
    return (
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
        f"{''.join(parts)}</svg>"
    )


Scale = Callable[[float], float]


def _axes(
    budgets: Sequence[int], x: Scale, y: Scale, width: int, height: int, metric: str
) -> list[str]:
    parts = []
    for percent in GRID:
        at = y(percent / 100)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{width - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
        )
        parts.append(f'<text class="tick end" x="{LEFT - 7}" y="{at + 4:.1f}">{percent}</text>')
    floor = height - BOTTOM
    for budget in budgets:
        parts.append(f'<text class="tick mid" x="{x(budget):.1f}" y="{floor + 18}">{budget}</text>')
    middle = (LEFT + width - RIGHT) / 2
    parts.append(f'<text class="axis mid" x="{middle:.0f}" y="{height - 6}">features bought</text>')
    side = (TOP + floor) / 2
    parts.append(
        f'<text class="axis mid" transform="translate(12 {side:.0f}) rotate(-90)">'
        f"{escape(metric)}, %</text>"
    )
    return parts


def _curve(curve: Curve, x: Scale, y: Scale) -> list[str]:
    points = [(x(b), y(v)) for b, v in sorted(curve.values.items())]
    path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
    parts = [f'<polyline class="curve {curve.style}" points="{path}"/>']
    for (px, py), (budget, value) in zip(points, sorted(curve.values.items()), strict=True):
        tip = escape(f"{curve.title}, {budget} bought: {100 * value:.1f} %")
        parts.append(
            f'<circle class="dot {curve.style}" cx="{px:.1f}" cy="{py:.1f}" r="3.5">'
            f"<title>{tip}</title></circle>"
        )
    return parts


def _value(budget: int, value: float, x: Scale, y: Scale, width: int) -> str:
    """Below and to the right of its point, where a rising curve leaves room; above the floor."""
    at = min(x(budget) + 6, width - 26)
    down = 17 if value > 0.1 else -8
    return f'<text class="value" x="{at:.1f}" y="{y(value) + down:.1f}">{100 * value:.0f}</text>'


def class_bars(proba: Sequence[float], truth: int, classes: Sequence[str]) -> str:
    """Class probabilities as small columns side by side; the true class is marked."""
    step, height = 15, 30
    width = step * len(proba)
    parts = []
    for k, share in enumerate(proba):
        tall = max(share * height, 1.0)
        mark = " truth" if k == truth else ""
        tip = escape(f"{classes[k]}: {100 * share:.1f} %")
        parts.append(
            f'<rect class="slot" x="{k * step}" y="0" width="{step - 3}" height="{height}"/>'
            f'<rect class="share{mark}" x="{k * step}" y="{height - tall:.1f}" '
            f'width="{step - 3}" height="{tall:.1f}"><title>{tip}</title></rect>'
        )
    return (
        f'<svg class="bars" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="class probabilities">{"".join(parts)}</svg>'
    )
