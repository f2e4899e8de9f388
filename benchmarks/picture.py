"""The picture of the README: macro-F1 after each purchase, on six data sets.

    python benchmarks/picture.py results/quick docs/img/curves.svg

Drawn from stored cells: means over folds, with a band of one standard deviation. One SVG serves
light and dark mode.
"""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path

from hyperdfs.atomic import replacing
from hyperdfs.bench.cells import CellRecord, read_record
from hyperdfs.bench.curves import acquisition_band
from hyperdfs.report.benchmark.content import Method
from hyperdfs.report.benchmark.svg import HEIGHT, WIDTH, band_line, curve_chart

TITLES = {
    "synpairs": "Synergistic Pairs",
    "cube": "Cube",
    "california": "California",
    "cirrhosis": "Cirrhosis",
    "metabric": "Metabric",
    "mnist": "MNIST",
}
UNITS = {"images": "patches"}  # anything else has features
METHODS = {  # drawn in this order
    "random_mlp": Method("random order", "m0", 1, "controls", "", "", True),
    "static_mlp": Method("one order for everybody", "m1", 2, "multi", "", "", True),
    "oracle": Method("oracle", "m2", None, "other", "", "", True),
    "hyperdfs": Method("Hyper-DFS", "m3", 0, "ours", "", "", True),
}
COLUMNS, CHART, GAP, TOP = 3, 320, 18, 34  # a chart's width, in pixels
STYLE = """
:root { --ink: #1c2128; --soft: #5d6672; --line: #e3e5e8 }
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--ink) }
.plot text { font-size: 17px; fill: var(--soft) } .mid { text-anchor: middle }
.end { text-anchor: end } .title { font-weight: 600 } .grid { stroke: var(--line) }
.s polyline { fill: none; stroke: var(--c); stroke-width: 2.4; stroke-linejoin: round }
.band { fill: var(--c); opacity: .13 } .ours polyline { stroke-width: 4 }
.multi polyline { stroke-dasharray: 9 4 } .controls polyline { stroke-dasharray: 3 4 }
.m0 { --c: #b45309 } .m1 { --c: #4d7c0f } .m2 { --c: #5d6672 } .m3 { --c: #0b6e99 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7eaee; --soft: #a2abb6; --line: #3a414b }
  .m0 { --c: #fb923c } .m1 { --c: #a3d65c } .m2 { --c: #a3b1c4 } .m3 { --c: #58b7e0 }
}
"""


def cells(store: Path, dataset: str, method: str) -> list[CellRecord]:
    records = [read_record(path) for path in sorted((store / dataset / method).glob("*.cell"))]
    return [record for record in records if record.status == "done"]


def chart(store: Path, dataset: str) -> tuple[str, CellRecord]:
    """The curves of a data set, and one of its cells."""
    found = {name: cells(store, dataset, name) for name in METHODS}
    lines = [
        band_line(method, acquisition_band(found[name]).from_first(), "purchases")
        for name, method in METHODS.items()
        if found[name]
    ]
    label = f"Macro-F1 by number of purchases on {TITLES[dataset]}"
    drawing = curve_chart(lines, x_title="bought", y_title="macro-F1, %", label=label)
    return drawing, found["hyperdfs"][0]


def legend(left: float) -> str:
    parts = []
    for method in reversed(METHODS.values()):
        line = f'<polyline points="{left},12 {left + 30},12"/>'
        name = f'<text x="{left + 38}" y="17">{escape(method.label)}</text>'
        parts.append(f'<g class="s {method.slug} {method.stroke}">{line}</g>{name}')
        left += 70 + 7.2 * len(method.label)
    return "".join(parts)


def picture(store: Path) -> str:
    height = CHART * HEIGHT / WIDTH
    parts = [legend(GAP)]
    for i, (dataset, title) in enumerate(TITLES.items()):
        x = GAP + (i % COLUMNS) * (CHART + GAP)
        y = TOP + (i // COLUMNS) * (height + 44)
        drawing, cell = chart(store, dataset)
        size = f"{len(cell.feature_names)} {UNITS.get(cell.kind, 'features')}"
        parts.append(
            f'<text x="{x:.0f}" y="{y + 16:.0f}"><tspan class="title">{escape(title)}</tspan>'
            f" · {size}, {cell.n_classes} classes</text>"
        )
        place = f'x="{x:.0f}" y="{y + 24:.0f}" width="{CHART}" height="{height:.0f}"'
        parts.append(drawing.replace("<svg", f"<svg {place}", 1))
    rows = -(-len(TITLES) // COLUMNS)
    wide, tall = GAP + COLUMNS * (CHART + GAP), TOP + rows * (height + 44)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall:.0f}" width="{wide}" '
        f'height="{tall:.0f}" role="img" aria-label="Macro-F1 after each purchase">'
        f"<style>{STYLE}</style>{''.join(parts)}</svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("to", type=Path)
    options = parser.parse_args()
    options.to.parent.mkdir(parents=True, exist_ok=True)
    with replacing(options.to) as temporary:
        temporary.write_text(picture(options.store), encoding="utf-8")


if __name__ == "__main__":
    main()
