"""Drawings as compact SVG. Colours are CSS classes, so light and dark mode share one drawing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from hyperdfs.bench.curves import Band, FitTime
from hyperdfs.bench.statistics import Friedman
from hyperdfs.report.benchmark.content import Method

LEFT, RIGHT, TOP, BOTTOM = 44, 10, 26, 38
WIDTH, HEIGHT = 460, 310
LEVELS = 10  # of a heat map
# What a logarithmic axis may be labelled with: seconds up to ten days, and numbers of rows.
DURATIONS = (0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36_000, 864_000)
ROW_COUNTS = tuple(m * 10**p for p in range(9) for m in (1, 2, 5))

Scale = Callable[[float], float]


@dataclass(frozen=True)
class Line:
    """A curve of a method; without a method it is the ceiling."""

    method: Method | None
    title: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] = ()


def curve_chart(lines: Sequence[Line], *, x_title: str, y_title: str, label: str) -> str:
    """Shares in percent over purchases or money, with a band of one standard deviation."""
    ends = [end for line in lines for end in _ends(line)]
    y_ticks = nice_ticks(100 * max(min(ends), 0), 100 * min(max(ends), 1))
    places = [place for line in lines for place in line.x]
    first, last = min(places), max(places)
    x_ticks = nice_ticks(first, last, most=11)
    x = linear(first, last, LEFT + 8, WIDTH - RIGHT)
    y = linear(y_ticks[0], y_ticks[-1], HEIGHT - BOTTOM, TOP)
    parts = [_y_axis(y_ticks, y), _x_axis([t for t in x_ticks if first <= t <= last], x)]
    parts.append(_titles(x_title, y_title))
    parts += [_line(line, x, lambda share: y(100 * share)) for line in lines]
    return _picture(parts, label)


def _ends(line: Line) -> list[float]:
    """Both edges of the band, or the curve itself where it has none."""
    if not line.spread:
        return list(line.y)
    return [y + sign * s for y, s in zip(line.y, line.spread, strict=True) for sign in (-1, 1)]


def _line(line: Line, x: Scale, y: Scale) -> str:
    kind = f"s {line.method.slug} {line.method.stroke}" if line.method else "s ceiling"
    title = f"<title>{escape(line.title)}</title>"
    points = _points(zip(map(x, line.x), map(y, line.y), strict=True))
    band = ""
    if line.spread:
        upper = [(x(a), y(min(b + s, 1))) for a, b, s in _triples(line)]
        lower = [(x(a), y(max(b - s, 0))) for a, b, s in _triples(line)]
        band = f'<polygon class="band" points="{_points([*upper, *lower[::-1]])}"/>'
    return f'<g class="{kind}">{title}{band}<polyline points="{points}"/></g>'


def _triples(line: Line) -> list[tuple[float, float, float]]:
    return list(zip(line.x, line.y, line.spread, strict=True))


def time_chart(times: Mapping[str, Sequence[FitTime]], methods: Mapping[str, Method]) -> str:
    """Seconds of a fit against training rows, both on logarithmic axes."""
    points = [point for series in times.values() for point in series]
    sizes, spent = [p.n_train for p in points], [p.seconds for p in points]
    x = logarithmic(min(sizes), max(sizes), LEFT + 16, WIDTH - RIGHT - 8)
    y = logarithmic(min(spent), max(spent), HEIGHT - BOTTOM - 8, TOP + 8)
    parts = [
        _y_axis(log_ticks(min(spent), max(spent), DURATIONS), y, seconds),
        _x_axis(log_ticks(min(sizes), max(sizes), ROW_COUNTS), x, rows),
    ]
    parts.append(_titles("training rows", "processor time of a fit"))
    for label, series in times.items():
        method = methods[label]
        path = _points((x(p.n_train), y(p.seconds)) for p in series)
        dots = "".join(
            f'<circle cx="{_n(x(p.n_train))}" cy="{_n(y(p.seconds))}" r="3"><title>'
            f"{escape(f'{label}, {p.dataset}: {p.n_train:,} rows, {seconds(p.seconds)}')}"
            "</title></circle>"
            for p in series
        )
        parts.append(
            f'<g class="s {method.slug} {method.stroke}"><polyline points="{path}"/>{dots}</g>'
        )
    return _picture(parts, "Fit time by number of training rows")


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
            f'y="{_n(at + 4)}">{escape(name)}</text><path class="stem" '
            f'd="M{_n(x(1))} {_n(at)}H{_n(x(rank))}"/><circle cx="{_n(x(rank))}" cy="{_n(at)}" '
            f'r="5"/><text class="tick" x="{_n(x(rank) + 10)}" y="{_n(at + 4)}">{rank:.2f}</text>'
            "</g>"
        )
    for k, clique in enumerate(cliques):
        at = width - right + 8 + bar * k
        first, last = place[clique[0]], place[clique[-1]]
        tip = escape("not told apart: " + ", ".join(clique))
        parts.append(
            f'<path class="clique" d="M{at} {_n(first - 6)}V{_n(last + 6)}"><title>{tip}</title>'
            "</path>"
        )
    return _picture(parts, "Mean ranks and critical difference", width, height)


def _rank_axis(n_methods: int, x: Scale, top: float, height: float) -> str:
    step = 1 if n_methods <= 10 else 2
    return "".join(
        f'<path class="grid" d="M{_n(x(rank))} {top - 6}V{_n(height)}"/>'
        f'<text class="tick mid" x="{_n(x(rank))}" y="{top - 12}">{rank}</text>'
        for rank in range(1, n_methods + 1, step)
    )


def _difference_bar(test: Friedman, x: Scale) -> str:
    start, end = x(1), x(1 + min(test.critical_difference, len(test.labels) - 1))
    return (
        f'<path class="clique" d="M{_n(start)} 24H{_n(end)}M{_n(start)} 19V29M{_n(end)} 19V29"/>'
        f'<text class="tick" x="{_n(start)}" y="13">critical difference '
        f"{test.critical_difference:.2f}</text>"
    )


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


def logarithmic(low: float, high: float, start: float, end: float) -> Scale:
    scale = linear(math.log10(low), math.log10(high), start, end)
    return lambda value: scale(math.log10(value))


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


def log_ticks(low: float, high: float, candidates: Sequence[float]) -> list[float]:
    """Those of the candidates that lie in the range; the range's start if none does.

    >>> log_ticks(30, 4000, DURATIONS)
    [60, 600, 3600]
    """
    return [tick for tick in candidates if low <= tick <= high] or [low]


def seconds(value: float) -> str:
    """A duration as a person says it.

    >>> seconds(0.02), seconds(42), seconds(600), seconds(36000)
    ('0.02 s', '42 s', '10 min', '10 h')
    """
    for unit, size in (("h", 3600), ("min", 60)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} s"


def rows(value: float) -> str:
    """A number of rows, short.

    >>> rows(100), rows(10000)
    ('100', '10k')
    """
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def _y_axis(ticks: Sequence[float], y: Scale, text: Callable[[float], str] = "{:g}".format) -> str:
    return "".join(
        f'<path class="grid" d="M{LEFT} {_n(y(tick))}H{WIDTH - RIGHT}"/>'
        f'<text class="tick end" x="{LEFT - 5}" y="{_n(y(tick) + 4)}">{text(tick)}</text>'
        for tick in ticks
    )


def _x_axis(ticks: Sequence[float], x: Scale, text: Callable[[float], str] = "{:g}".format) -> str:
    return "".join(
        f'<text class="tick mid" x="{_n(x(tick))}" y="{HEIGHT - BOTTOM + 16}">{text(tick)}</text>'
        for tick in ticks
    )


def _titles(x_title: str, y_title: str) -> str:
    middle = (LEFT + WIDTH - RIGHT) / 2
    return (
        f'<text class="axis mid" x="{_n(middle)}" y="{HEIGHT - 5}">{escape(x_title)}</text>'
        f'<text class="axis" x="4" y="12">{escape(y_title)}</text>'
    )


def _picture(parts: Sequence[str], label: str, width: float = WIDTH, height: float = HEIGHT) -> str:
    return (
        f'<svg class="plot" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_n(px)},{_n(py)}" for px, py in points)


def _n(value: float) -> str:
    """A coordinate with one decimal at most."""
    return f"{round(value, 1):g}"


def band_line(method: Method, band: Band, unit: str) -> Line:
    """The curve of a method; its tip names the last value."""
    title = f"{method.label}: {100 * band.mean[-1]:.1f} % after {band.x[-1]:g} {unit}"
    return Line(method, title, band.x, band.mean, () if method.hue is None else band.std)
