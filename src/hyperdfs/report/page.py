"""From content to one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hyperdfs.atomic import replacing
from hyperdfs.report.content import Report
from hyperdfs.report.svg import class_bars, line_chart


def templates() -> Environment:
    """The templates of all pages; `house.css` is their common look."""
    return Environment(
        loader=PackageLoader("hyperdfs.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(report: Report) -> str:
    """The page as text: no script, nothing to load."""
    chart = partial(line_chart, report.curves, metric=report.metric)

    def bars(proba: Sequence[float], truth: int) -> Markup:
        return Markup(class_bars(proba, truth, report.classes))

    return (
        templates()
        .get_template("page.html.j2")
        .render(
            report=report,
            wide=Markup(chart(width=760, height=380)),
            narrow=Markup(chart(width=350, height=300)),
            bars=bars,
            leader=partial(_leader, report.classes),
        )
    )


def _leader(classes: Sequence[str], proba: Sequence[float]) -> str:
    best = max(range(len(proba)), key=lambda k: proba[k])
    return f"{classes[best]} · {100 * proba[best]:.0f} %"


def write_page(report: Report, path: Path) -> None:
    """Write atomically: the file at `path` is whole or as it was."""
    write_whole(render(report), path)


def write_whole(text: str, path: Path) -> None:
    """The file at `path` has this text afterwards, or is as it was."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
