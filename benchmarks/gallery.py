"""A picture of what each method buys, for the pages in docs/methods.

    python benchmarks/gallery.py [method ...]

Every method is fitted with its default preset (without quantile columns) on 2,000 rows of syn5,
where x11 decides whether y depends on x1 and x2 or on x7 to x10. The heat maps show the share of
300 new cases that buy a feature at a step, for both sides of x11, and the curve the probability of
the true class of one of these cases. Pictures are SVG for light and dark mode, written to
docs/methods/img.
"""

from __future__ import annotations

import argparse
import os
from html import escape
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import hyperdfs
from hyperdfs.atomic import replacing
from hyperdfs.datasets import load_dataset

OUT = Path(__file__).parents[1] / "docs" / "methods" / "img"
DATASET, BUDGET = "syn5", 8
GATE, CLEAR = 10, 8  # x11, and x9, whose largest value makes a case clear
TRAIN, TEST = 2000, 300
SETTINGS: dict[str, dict[str, Any]] = {"oracle": {"dataset": DATASET}}
CELL, GAP, TOP, LEFT = 18, 58, 52, 40
STYLE = """
text { font: 11px system-ui, sans-serif; fill: #333 }
.title { font-weight: 600 } .mid { text-anchor: middle } .end { text-anchor: end }
.slot { fill: #8884; stroke: none } .cell { fill: #2563eb }
.path { fill: none; stroke: #2563eb; stroke-width: 2 } .dot { fill: #2563eb }
.grid { stroke: #8886; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .cell, .dot { fill: #7aa7ff } .path { stroke: #7aa7ff }
}
"""


def shares(order: np.ndarray, n_features: int) -> np.ndarray:
    """Share of the cases that buy each feature at each step: ``(n, B) -> (M, B)``."""
    return np.stack([(order == feature).mean(0) for feature in range(n_features)])


def heat_map(share: np.ndarray, names: list[str], title: str, left: int) -> list[str]:
    """Features down, steps across."""
    steps = share.shape[1]
    middle = left + steps * CELL / 2
    parts = [f'<text class="mid" x="{middle:.0f}" y="{TOP - 20}">{escape(title)}</text>']
    for step in range(steps):
        x = left + (step + 0.5) * CELL
        parts.append(f'<text class="mid" x="{x:.0f}" y="{TOP - 5}">{step + 1}</text>')
    for i, name in enumerate(names):
        y = TOP + i * CELL
        parts.append(f'<text class="end" x="{left - 5}" y="{y + 13}">{escape(name)}</text>')
        for step in range(steps):
            place = f'x="{left + step * CELL}" y="{y}" width="{CELL - 1}" height="{CELL - 1}"'
            parts.append(f'<rect class="slot" {place}/>')
            if share[i, step] > 0.005:
                tip = f"{name} at step {step + 1}: {100 * share[i, step]:.0f} %"
                parts.append(
                    f'<rect class="cell" fill-opacity="{share[i, step]:.2f}" {place}>'
                    f"<title>{escape(tip)}</title></rect>"
                )
    return parts


def path(chance: np.ndarray, bought: list[str], left: int, height: int) -> list[str]:
    """Probability of the true class after 0, 1, ... purchases, with what was bought."""
    width = 26 * len(bought)

    def at(step: int) -> tuple[float, float]:
        return left + step * 26, TOP + (1 - chance[step]) * height

    middle = left + width / 2
    parts = [f'<text class="mid" x="{middle:.0f}" y="{TOP - 20}">one case: P(true class)</text>']
    for percent in (0, 50, 100):
        y = TOP + (1 - percent / 100) * height
        parts.append(f'<line class="grid" x1="{left}" x2="{left + width}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="end" x="{left - 6}" y="{y + 4:.0f}">{percent}</text>')
    points = " ".join("{:.1f},{:.1f}".format(*at(step)) for step in range(len(chance)))
    parts.append(f'<polyline class="path" points="{points}"/>')
    for step in range(len(chance)):
        x, y = at(step)
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
        if step:
            name = escape(bought[step - 1])
            parts.append(f'<text class="mid" x="{x:.0f}" y="{TOP + height + 16}">{name}</text>')
    return parts


def picture(method: str) -> str:
    """Fit the method and draw its purchases."""
    data = load_dataset(DATASET, seed=1, n_samples=TRAIN + TEST)
    names = [str(name) for name in data.features.names]
    config = {"n_bins": 0, **SETTINGS.get(method, {})}
    model = hyperdfs.DFSClassifier(method, max_budget=BUDGET, config=config)
    model.fit(data.X.iloc[:TRAIN], data.y[:TRAIN])
    table, labels = data.X.iloc[TRAIN:], np.asarray(data.y[TRAIN:])
    bought = model.acquire(table, BUDGET)
    below = table.iloc[:, GATE].to_numpy() < 0
    second = LEFT + BUDGET * CELL + GAP
    third = second + BUDGET * CELL + GAP
    case = int(np.where(below, -np.inf, table.iloc[:, CLEAR].to_numpy()).argmax())
    chance = bought.proba[case, :, list(model.classes_).index(labels[case])]
    tall = len(names) * CELL
    title = f"{method} on {DATASET}: share of cases that buy a feature at a step"
    parts = [
        f'<text class="title" x="{LEFT}" y="14">{escape(title)}</text>',
        *heat_map(shares(bought.order[below], len(names)), names, "x11 < 0: y from x1, x2", LEFT),
        *heat_map(
            shares(bought.order[~below], len(names)), names, "x11 ≥ 0: y from x7 to x10", second
        ),
        *path(chance, [names[i] for i in bought.order[case]], third, tall - 20),
    ]
    width, height = third + 26 * BUDGET + 20, TOP + tall + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{escape(title)}"><style>{STYLE}</style>'
        f"{''.join(parts)}</svg>\n"
    )


def write(path: Path, text: str) -> None:
    """Atomically: the file is whole or as it was."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def gallery() -> str:
    """A page of all the pictures there are."""
    about = (
        f"`python benchmarks/gallery.py` fits each method on {TRAIN:,} rows of `{DATASET}`, where "
        "the sign of x11\ndecides whether y depends on x1 and x2 or on x7 to x10, and draws what "
        f"{TEST} new cases buy. Left and middle:\nthe share of the cases on each side of x11 that "
        "buy a feature at a step. Right: one case."
    )
    pictures = [f"![{path.stem}](img/{path.name})" for path in sorted(OUT.glob("*.svg"))]
    return "\n\n".join(["# What the methods buy", about, *pictures]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("methods", nargs="*", help="default: all")
    OUT.mkdir(exist_ok=True)
    for method in parser.parse_args().methods or hyperdfs.method_names():
        write(OUT / f"{method}.svg", picture(method))
        write(OUT.parent / "gallery.md", gallery())
        print(method, flush=True)


if __name__ == "__main__":
    main()
