"""The page: complete, escaped, and with nothing to load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from html_balance import Balance
from hyperdfs.report import CasePath, Curve, HeatMap, Purchase, Report, render, write_page

REPORT = Report(
    title="Title <script>alert(1)</script>",
    headline="After 1 of 2 features …",
    task="Two classes",
    metric="macro-F1",
    note="A note",
    classes=["no", "yes & no"],
    curves=[
        Curve("Model", "model", {0: 0.3, 1: 0.9}),
        Curve("Random", "random", {0: 0.3, 1: 0.5}),
    ],
    paths=[CasePath(1, 1, [0.5, 0.5], [Purchase("age", "54", [0.1, 0.9])])],
    heat=HeatMap(["age"], [[1.0]], ["sex"]),
    settings={"Seed": "0"},
    command="hyperdfs demo --seed 0",
)


def test_the_page_loads_nothing() -> None:
    page = render(REPORT)
    assert not re.search(r"https?:|//[a-z]|@import|url\(|<script|<link|<img|<iframe", page)
    assert "prefers-color-scheme: dark" in page


def test_the_page_is_well_formed_and_escaped() -> None:
    page = render(REPORT)
    balance = Balance()
    balance.feed(page)
    assert balance.open == []
    assert "yes &amp; no" in page
    assert "Title &lt;script&gt;" in page


def test_the_page_shows_every_part() -> None:
    page = render(REPORT)
    for text in ("90.0", "recognised", "54", "sex", "Seed", REPORT.command, "features bought"):
        assert text in page


def test_a_failed_write_leaves_the_old_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_page(REPORT, path)
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text() == "old"
