"""From the benchmark's content to one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from hyperdfs.bench.curves import Band
from hyperdfs.report.benchmark.content import Agreement, BenchmarkReport, DatasetView
from hyperdfs.report.benchmark.limits import paper_notes
from hyperdfs.report.benchmark.svg import (
    Line,
    band_line,
    curve_chart,
    heat_level,
    heat_map,
)
from hyperdfs.report.benchmark.svg_ranks import rank_chart
from hyperdfs.report.benchmark.svg_times import time_chart
from hyperdfs.report.page import templates


def render(report: BenchmarkReport) -> str:
    """The page as text: no script, nothing to load."""
    pictures = Pictures(report)
    anchors = {view.name: view.anchor for view in report.datasets}
    template = templates().get_template("benchmark/page.html.j2")
    return template.render(
        report=report,
        draw=pictures,
        anchors=anchors,
        what={method.label: method.what for method in report.methods if method.what},
        level=heat_level,
        percent=percent,
        p_value=p_value,
        signed=signed,
        paper_notes=paper_notes,
        breakable=breakable,
    )


class Pictures:
    """Drawings of the parts of a report, in the colours of its methods."""

    def __init__(self, report: BenchmarkReport) -> None:
        self._report = report
        self._methods = {method.label: method for method in report.methods}

    def curves(self, view: DatasetView) -> Markup:
        """Macro-F1 by purchases, with the ceiling where it is known."""
        lines = self._bands(view.curves, "bought")
        if view.ceiling:
            budgets = sorted(view.ceiling)
            values = [view.ceiling[budget] for budget in budgets]
            lines.insert(0, Line(None, view.ceiling_title, budgets, values))
        text = curve_chart(
            lines,
            x_title="features bought",
            y_title="macro-F1, %",
            label=f"{view.name}: macro-F1 by number of bought features",
        )
        return Markup(text)

    def money(self, view: DatasetView) -> Markup:
        """Macro-F1 by the mean money spent."""
        text = curve_chart(
            self._bands(view.money, "spent"),
            x_title=f"mean money spent, {view.money_unit}",
            y_title="macro-F1, %",
            label=f"{view.name}: macro-F1 by money",
            from_zero=True,
        )
        return Markup(text)

    def _bands(self, bands: Mapping[str, Band], unit: str) -> list[Line]:
        """Ours last and so on top."""
        lines = [band_line(self._methods[m], band.from_first(), unit) for m, band in bands.items()]
        return lines[::-1]

    def agreement(self, found: Agreement) -> Markup:
        """Agreement with the reference by budget."""
        lines = [
            Line(
                self._methods[label],
                f"{label}: {100 * shares[-1]:.0f} % shared in the end",
                range(1, len(shares) + 1),
                shares,
            )
            for label, shares in found.by_budget.items()
        ]
        text = curve_chart(
            lines,
            x_title="features bought",
            y_title=f"shared with {found.reference}, %",
            label=f"Agreement with {found.reference} by number of bought features",
        )
        return Markup(text)

    def map(self, matrix: Sequence[Sequence[float]], label: str) -> Markup:
        return Markup(heat_map(matrix, label))

    def step(self, matrix: Sequence[Sequence[float]], label: str) -> Markup:
        """A map whose strongest square is the largest share, however small."""
        top = max(max(row) for row in matrix) or 1.0
        return self.map([[share / top for share in row] for row in matrix], label)

    def times(self) -> Markup:
        features = {view.name: view.n_features for view in self._report.datasets}
        sizes = {
            point.dataset: f"{point.n_train:,} × {features[point.dataset]}"
            for series in self._report.times.values()
            for point in series
        }
        return Markup(time_chart(self._report.times, self._methods, sizes))

    def ranks(self) -> Markup:
        test = self._report.tests.friedman
        assert test is not None
        return Markup(rank_chart(test, self._methods))


def signed(difference: float) -> str:
    """With one decimal and its sign; what rounds to nothing has none.

    >>> signed(-0.04), signed(0.26), signed(-1.2)
    ('0.0', '+0.3', '−1.2')
    """
    text = f"{difference:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", "−")


def percent(share: float) -> str:
    """A share in percent; what rounds to nothing is left blank.

    >>> percent(0.004), percent(0.996)
    ('', '100')
    """
    return "" if share < 0.005 else f"{100 * share:.0f}"


def breakable(name: str) -> Markup:
    """A name that may go on in the next line after an underscore.

    >>> print(breakable("nhanes_glucose"))
    nhanes_<wbr/>glucose
    """
    return Markup("_<wbr/>").join(name.split("_"))


def p_value(value: float) -> str:
    """As it stands in a sentence.

    >>> p_value(1e-9), p_value(0.0068), p_value(0.62)
    ('< 0.001', '= 0.007', '= 0.62')
    """
    if value < 0.001:
        return "< 0.001"
    return f"= {value:.3f}" if value < 0.0995 else f"= {value:.2f}"
