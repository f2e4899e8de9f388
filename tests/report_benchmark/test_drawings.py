"""Drawings show what the page opens with, and cut off the rest."""

from __future__ import annotations

import re

import pytest

from hyperdfs.bench.curves import FitTime
from hyperdfs.report.benchmark.content import Method
from hyperdfs.report.benchmark.page import signed
from hyperdfs.report.benchmark.svg import (
    LEAST_HEIGHT,
    Line,
    curve_chart,
    heat_map,
    nice_ticks,
    value_range,
)
from hyperdfs.report.benchmark.svg_times import time_chart


def method(label: str, *, ticked: bool = True, stroke: str = "literature") -> Method:
    return Method(label, label, 0, stroke, "default", "", ticked)


def line(*y: float, ticked: bool = True, spread: float = 0.0, stroke: str = "literature") -> Line:
    shown = method("a", ticked=ticked, stroke=stroke)
    return Line(shown, "a", range(1, 1 + len(y)), y, [spread] * len(y) if spread else ())


def test_heights_fit_the_curves_that_are_ticked() -> None:
    shown, hidden = line(0.5, 0.7, 0.8), line(0.1, 0.1, 0.1, ticked=False)
    assert value_range([shown, hidden]) == value_range([shown]) == pytest.approx((0.7, 0.8))
    assert value_range([hidden])[0] <= 0.1  # where none is ticked, all are


def test_a_first_purchase_far_below_is_cut_off_and_a_near_one_is_not() -> None:
    assert value_range([line(0.2, 0.7, 0.8)])[0] == pytest.approx(0.7)
    assert value_range([line(0.66, 0.7, 0.8)])[0] == pytest.approx(0.66)
    assert value_range([line(0.2, 0.8)])[0] == pytest.approx(0.2)  # there is little else


def test_ceilings_and_bands_leave_the_curves_their_room() -> None:
    curve = line(0.7, 0.7, 0.8)
    near, far = (Line(None, "", (1, 3), (value, value)) for value in (0.84, 0.99))
    assert value_range([curve, near])[1] == pytest.approx(0.84)
    assert value_range([curve, far])[1] == pytest.approx(0.8)
    assert value_range([line(0.7, 0.7, 0.8, spread=0.03, stroke="ours")]) == pytest.approx(
        (0.67, 0.83)
    )
    assert value_range([line(0.7, 0.7, 0.8, spread=0.3, stroke="ours")]) == pytest.approx(
        (0.65, 0.85)
    )
    assert value_range([line(0.7, 0.7, 0.8, spread=0.03)]) == pytest.approx((0.7, 0.8))


def test_a_level_does_not_squash_the_methods() -> None:
    level = Line(Method("o", "o", None, "controls", "", "", True), "", (1, 2, 3), (0.4, 0.4, 0.8))
    assert value_range([line(0.7, 0.7, 0.8), level]) == pytest.approx((0.65, 0.8))


def test_noise_is_not_blown_up() -> None:
    low, high = value_range([line(0.968, 0.9681, 0.9679)])
    assert high - low == pytest.approx(LEAST_HEIGHT)


def test_curves_are_drawn_in_a_window_that_cuts() -> None:
    text = curve_chart([line(0.2, 0.7, 0.8)], x_title="x", y_title="y", label="one")
    assert text.count("<svg") == 2
    inner = text.split("<svg")[2]
    assert "polyline" in inner
    assert "tick" not in inner


def test_money_starts_at_zero_and_purchases_at_the_first() -> None:
    ticks = [
        re.findall(
            r'class="tick mid"[^>]*>([^<]*)<',
            curve_chart(
                [line(0.6, 0.7, 0.8)], x_title="", y_title="", label="", from_zero=from_zero
            ),
        )
        for from_zero in (True, False)
    ]
    assert [found[0] for found in ticks] == ["0", "1"]


def test_times_are_dots_beside_the_names_of_their_data_sets() -> None:
    times = {
        "a": [FitTime("wine", 142, 2.0), FitTime("heart <1>", 216, 400.0)],
        "b": [FitTime("wine", 142, 30.0)],
    }
    sizes = {"wine": "142 × 13", "heart <1>": "216 × 13"}
    text = time_chart(times, {label: method(label) for label in times}, sizes)
    assert "polyline" not in text
    assert text.count("<circle") == 3
    assert re.findall(r'class="name end"[^>]*>([^<]*)<', text) == ["wine", "heart &lt;1&gt;"]
    assert "a, heart &lt;1&gt;: 6.67 min" in text
    ticks = re.findall(r'class="tick mid"[^>]*>([^<]*)<', text)
    assert set(ticks) <= {"2 s", "5 s", "10 s", "30 s", "1 min", "2 min", "5 min"}
    assert "2 s" in ticks


def test_differences_that_round_to_nothing_have_no_sign() -> None:
    assert [signed(value) for value in (-0.04, 0.04, 0.06, -1.23)] == ["0.0", "0.0", "+0.1", "−1.2"]


def test_heat_map_has_a_square_for_every_share() -> None:
    text = heat_map([[0.0, 0.05], [1.0, 0.55]], "shares <1>")
    assert text.count("h1v1h-1z") == 3
    assert 'class="h10" d="M0 1' in text
    assert "shares &lt;1&gt;" in text


def test_ticks_cover_their_range() -> None:
    for low, high in [(0, 100), (31.4, 84.2), (50, 50), (99.2, 99.4), (0, 0.001)]:
        ticks = nice_ticks(low, high)
        assert ticks[0] <= low + 1e-9
        assert ticks[-1] >= high - 1e-9
        assert 2 <= len(ticks) <= 7
        assert len(set(ticks)) == len(ticks)
