"""The drawing of fit times: a row for each data set, a dot for each method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from hyperdfs.bench.curves import FitTime
from hyperdfs.report.benchmark.content import Method
from hyperdfs.report.benchmark.svg import WIDTH, Scale, linear, num, picture, seconds

LEFT, RIGHT, TOP, BOTTOM = 122, 98, 46, 24
STEP = 17  # from row to row
ROOM = 46  # what the label of a tick takes
# What an axis of durations may be labelled with: a millisecond to ten days.
DURATIONS = (
    *(m * 10.0**p for p in (-3, -2, -1) for m in (1, 2, 5)),
    *(1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 18_000, 36_000, 86_400, 864_000),
)


def time_chart(
    times: Mapping[str, Sequence[FitTime]],
    methods: Mapping[str, Method],
    sizes: Mapping[str, str],
) -> str:
    """Seconds of a fit on a logarithmic axis, data sets by their training rows.

    `sizes` says how large a data set is, beside its row. No line joins the dots: data sets differ
    in more than one way.
    """
    every = [point for series in times.values() for point in series]
    ordered = sorted({(point.n_train, point.dataset) for point in every})
    place = {name: TOP + STEP * (i + 0.5) for i, (_, name) in enumerate(ordered)}
    spent = [point.seconds for point in every]
    x = logarithmic(min(spent), max(spent), LEFT + 8, WIDTH - RIGHT - 10)
    height = TOP + STEP * len(place) + BOTTOM
    parts = [
        f'<text class="axis" x="{LEFT}" y="13">processor time of a fit</text>'
        f'<text class="axis end" x="{WIDTH - 2}" y="13">rows × features</text>',
        _time_axis(log_ticks(min(spent), max(spent), DURATIONS), x, height),
        *(_row(name, sizes[name], at) for name, at in place.items()),
    ]
    # The last is on top: ours, which come first in the tables.
    for label, series in reversed(list(times.items())):
        method = methods[label]
        dots = "".join(_dot(label, point, x, place[point.dataset]) for point in series)
        parts.append(f'<g class="s {method.slug} {method.stroke}">{dots}</g>')
    return picture(parts, "Fit time by data set and method", WIDTH, height)


def _time_axis(ticks: Sequence[float], x: Scale, height: float) -> str:
    parts = []
    free = -math.inf
    for tick in ticks:
        at = x(tick)
        parts.append(f'<path class="grid" d="M{num(at)} {TOP - 4}V{num(height - BOTTOM)}"/>')
        if at >= free:
            free = at + ROOM
            parts += [
                f'<text class="tick mid" x="{num(at)}" y="{num(y)}">{seconds(tick)}</text>'
                for y in (TOP - 10, height - 6)
            ]
    return "".join(parts)


def _row(name: str, size: str, at: float) -> str:
    return (
        f'<path class="grid" d="M{LEFT} {num(at)}H{WIDTH - RIGHT}"/>'
        f'<text class="name end" x="{LEFT - 8}" y="{num(at + 4)}">{escape(name)}</text>'
        f'<text class="tick end" x="{WIDTH - 2}" y="{num(at + 4)}">{escape(size)}</text>'
    )


def _dot(label: str, point: FitTime, x: Scale, at: float) -> str:
    tip = escape(f"{label}, {point.dataset}: {seconds(point.seconds)}")
    return (
        f'<circle cx="{num(x(point.seconds))}" cy="{num(at)}" r="4"><title>{tip}</title></circle>'
    )


def logarithmic(low: float, high: float, start: float, end: float) -> Scale:
    scale = linear(math.log10(low), math.log10(high), start, end)
    return lambda value: scale(math.log10(value))


def log_ticks(low: float, high: float, candidates: Sequence[float]) -> list[float]:
    """Those of the candidates that lie in the range; the range's start if none does.

    >>> log_ticks(30, 400, DURATIONS)
    [30, 60, 120, 300]
    """
    return [tick for tick in candidates if low <= tick <= high] or [low]
