"""Drawings as compact SVG. Colours are CSS classes, so light and dark mode share one drawing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from hyperdfs.bench.curves import Band
from hyperdfs.report.benchmark.content import Method

LEFT, RIGHT, TOP, BOTTOM = 44, 10, 26, 38
WIDTH, HEIGHT = 460, 310
LEVELS = 10  # of a heat map
OVERHANG = 4  # how far strokes and dots may reach out of the plot
NEAR = 0.5  # of the curves' height: what is this close to them is not cut off
LEAST_HEIGHT = 0.02  # less would make noise look like a difference

Scale = Callable[[float], float]


@dataclass(frozen=True)
class Line:
    """A curve of a method; without a method it is the ceiling."""

    method: Method | None
    title: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] = ()


def curve_chart(
    lines: Sequence[Line], *, x_title: str, y_title: str, label: str, from_zero: bool = False
) -> str:
    """Shares in percent over purchases or money, with a band of one standard deviation.

    Heights fit the curves that are ticked; what lies outside is cut off at the edge.
    """
    low, high = value_range(lines)
    y_ticks = nice_ticks(100 * max(low, 0), 100 * min(high, 1))
    places = [place for line in lines for place in line.x]
    first, last = 0.0 if from_zero else min(places), max(places)
    x_ticks = nice_ticks(first, last, most=11)
    x = linear(first, last, LEFT if from_zero else LEFT + 8, WIDTH - RIGHT)
    y = linear(y_ticks[0], y_ticks[-1], HEIGHT - BOTTOM, TOP)
    parts = [_y_axis(y_ticks, y), _x_axis([t for t in x_ticks if first <= t <= last], x)]
    parts.append(_titles(x_title, y_title))
    parts.append(_window(_line(line, x, lambda share: y(100 * share)) for line in lines))
    return picture(parts, label)


def value_range(lines: Sequence[Line]) -> tuple[float, float]:
    """What the height must show: the ticked curves from the second purchase on.

    The first purchase is often so far below that it would squash all that follows; scores begin
    with the second. It, our bands and what methods are measured by count as far as they leave the
    curves their room.
    """
    ticked = [line for line in lines if line.method and line.method.ticked]
    shown = [line for line in ticked if line.method and line.method.hue is not None] or list(lines)
    later = [y for line in shown for y in line.y[_second(line) :]]
    low, high = min(later), max(later)
    room = max(NEAR * (high - low), (LEAST_HEIGHT - (high - low)) / 2)
    firsts = [line.y[0] for line in shown if line.y[0] >= low - room]
    ceilings = [max(line.y) for line in lines if not line.method and max(line.y) <= high + room]
    edges = [edge for line in ticked for edge in _edges(line)]
    bottom = min([low, *firsts, *(max(edge, low - room) for edge in edges)])
    top = max([high, *ceilings, *(min(edge, high + room) for edge in edges)])
    spare = max(0.0, LEAST_HEIGHT - (top - bottom)) / 2
    return bottom - spare, top + spare


def _second(line: Line) -> int:
    """Where the second purchase is; a curve of one or two points counts as a whole."""
    return 1 if len(line.y) > 2 else 0


def _edges(line: Line) -> list[float]:
    """Of a level, or of our bands; those of the others are seen one at a time."""
    if line.method is not None and line.method.hue is None:
        return list(line.y[_second(line) :])
    if not line.spread or line.method is None or line.method.stroke != "ours":
        return []
    later = _triples(line)[_second(line) :]
    return [y + sign * spread for _, y, spread in later for sign in (-1, 1)]


def _window(lines: Iterable[str]) -> str:
    """A drawing within the drawing: it cuts off what lies outside, and needs no name to do so."""
    left, top = LEFT - OVERHANG, TOP - OVERHANG
    width, height = WIDTH - left, HEIGHT - BOTTOM - top + OVERHANG
    return (
        f'<svg x="{left}" y="{top}" width="{width}" height="{height}" '
        f'viewBox="{left} {top} {width} {height}">{"".join(lines)}</svg>'
    )


def _line(line: Line, x: Scale, y: Scale) -> str:
    kind = f"s {line.method.slug} {line.method.stroke}" if line.method else "s ceiling"
    title = f"<title>{escape(line.title)}</title>"
    path = points(zip(map(x, line.x), map(y, line.y), strict=True))
    band = ""
    if line.spread:
        upper = [(x(a), y(min(b + s, 1))) for a, b, s in _triples(line)]
        lower = [(x(a), y(max(b - s, 0))) for a, b, s in _triples(line)]
        band = f'<polygon class="band" points="{points([*upper, *lower[::-1]])}"/>'
    return f'<g class="{kind}">{title}{band}<polyline points="{path}"/></g>'


def _triples(line: Line) -> list[tuple[float, float, float]]:
    return list(zip(line.x, line.y, line.spread, strict=True))


def heat_map(matrix: Sequence[Sequence[float]], label: str) -> str:
    """Shares 0..1 as squares of ten strengths, one path for each."""
    runs: dict[int, list[str]] = {}
    for row, values in enumerate(matrix):
        for column, value in enumerate(values):
            level = heat_level(value)
            if level:
                runs.setdefault(level, []).append(f"M{column} {row}h1v1h-1z")
    paths = "".join(f'<path class="h{k}" d="{"".join(runs[k])}"/>' for k in sorted(runs))
    size = f"0 0 {len(matrix[0])} {len(matrix)}"
    return (
        f'<svg class="map" viewBox="{size}" role="img" aria-label="{escape(label)}">'
        f"<title>{escape(label)}</title>{paths}</svg>"
    )


def heat_level(share: float) -> int:
    """0..10; anything above nothing is visible.

    >>> heat_level(0.0), heat_level(0.01), heat_level(0.96)
    (0, 1, 10)
    """
    return min(LEVELS, math.ceil(round(share * LEVELS, 6)))


def linear(low: float, high: float, start: float, end: float) -> Scale:
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (end - start)


def nice_ticks(low: float, high: float, *, most: int = 7) -> list[float]:
    """Round numbers from at most `low` to at least `high`.

    >>> nice_ticks(31, 84)
    [30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    >>> nice_ticks(0, 10, most=11)[-1]
    10.0
    """
    if high - low < 1e-9:
        high = low + 1.0
    power = 10.0 ** math.floor(math.log10((high - low) / (most - 1)))
    for factor in (1, 2, 5, 10, 20):
        step = factor * power
        first = math.floor(low / step + 1e-9)
        count = math.ceil(high / step - 1e-9) - first + 1
        if count <= most:
            break
    return [round((first + i) * step, 9) for i in range(count)]


def seconds(value: float) -> str:
    """A duration as a person says it.

    >>> seconds(0.02), seconds(42), seconds(600), seconds(36000)
    ('0.02 s', '42 s', '10 min', '10 h')
    """
    for unit, size in (("h", 3600), ("min", 60)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} s"


def _y_axis(ticks: Sequence[float], y: Scale) -> str:
    return "".join(
        f'<path class="grid" d="M{LEFT} {num(y(tick))}H{WIDTH - RIGHT}"/>'
        f'<text class="tick end" x="{LEFT - 5}" y="{num(y(tick) + 4)}">{tick:g}</text>'
        for tick in ticks
    )


def _x_axis(ticks: Sequence[float], x: Scale) -> str:
    return "".join(
        f'<text class="tick mid" x="{num(x(tick))}" y="{HEIGHT - BOTTOM + 16}">{tick:g}</text>'
        for tick in ticks
    )


def _titles(x_title: str, y_title: str) -> str:
    middle = (LEFT + WIDTH - RIGHT) / 2
    return (
        f'<text class="axis mid" x="{num(middle)}" y="{HEIGHT - 5}">{escape(x_title)}</text>'
        f'<text class="axis" x="4" y="12">{escape(y_title)}</text>'
    )


def picture(parts: Sequence[str], label: str, width: float = WIDTH, height: float = HEIGHT) -> str:
    return (
        f'<svg class="plot" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{num(px)},{num(py)}" for px, py in places)


def num(value: float) -> str:
    """A coordinate with one decimal at most."""
    return f"{round(value, 1):g}"


def band_line(method: Method, band: Band, unit: str) -> Line:
    """The curve of a method; its tip names the last value."""
    title = f"{method.label}: {100 * band.mean[-1]:.1f} % after {band.x[-1]:g} {unit}"
    return Line(method, title, band.x, band.mean, () if method.hue is None else band.std)
