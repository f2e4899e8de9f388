"""How much the exact shortcuts save: the library against the textbook form of the same model.

    python benchmarks/speed.py [--quick]

One thread. A step is forward and backward of one stage-2 batch of 256 rows (trajectories of up to
10 purchases, cross-entropy, collapse loss, replay of 16 random masks), without the optimiser.
Each measurement runs in a process of its own, the ones to be compared in turn; of the rounds the
fastest counts. Times of steps and purchases are CPU time, which is the same on a quiet machine and
hardly feels other processes. "In torch" is the paper's preset as on a machine without a C
compiler; where there is one, it runs once, before anything is timed. Memory is the peak resident
size during the steps above that before the first one. The textbook is `tests/nn/textbook.py`: one
mask per row, a real softmax over all tokens, all weights of all primary networks generated. The
library's steps run as they do in a fit, with freed memory kept (`hyperdfs.heap`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BATCH, BUDGET, CLASSES = 256, 10, 2


def make_step(preset: str, m: int) -> tuple[Any, Any]:
    """A stage-2 step of the library and a batch for it."""
    import torch

    from hyperdfs.config import make_config
    from hyperdfs.masks import MaskSampler
    from hyperdfs.methods.base import Shape
    from hyperdfs.methods.hyper import build
    from hyperdfs.training.data import Rows
    from hyperdfs.training.joint_stage import JointStep

    torch.manual_seed(0)
    config, shape = make_config(preset), Shape(tuple(range(m)), m, CLASSES)
    model = build(shape, config, 1)
    generator = torch.Generator().manual_seed(0)
    target = torch.eye(CLASSES)[torch.randint(0, CLASSES, (BATCH,))]
    rows = Rows(torch.randn(BATCH, m), None, target, torch.ones(BATCH), shape.columns())
    net, selector = model.modules["predictor"], model.modules["selector"]
    sampler = MaskSampler(m, generator)
    step = JointStep(net, selector, config, sampler, min(BUDGET, m), torch.zeros(m), generator)
    return step, rows


def library_step(preset: str, m: int) -> Callable[[], None]:
    step, rows = make_step(preset, m)

    def run() -> None:
        step.net.zero_grad(set_to_none=True)
        step.selector.zero_grad(set_to_none=True)
        step.loss(rows, 0.7).sum().backward()

    return run


def torch_step(m: int) -> Callable[[], None]:
    """The paper's preset as on a machine without a C compiler."""
    from hyperdfs.nn import encoders

    encoders.library = lambda dtype: None  # type: ignore[assignment]
    return library_step("paper", m)


def textbook_step(m: int) -> Callable[[], None]:
    """The same loss of the paper's model, written down plainly."""
    import textbook
    import torch

    step, rows = make_step("paper", m)
    net, selector = textbook.hypernet_like(step.net), textbook.scores_like(step.selector)
    generator, noise, k = step.generator, step.config.noise, step.config.masks_per_batch
    groups = (k, BATCH // k)

    def gumbel() -> Iterator[torch.Tensor]:
        while True:
            uniform = torch.rand(BATCH, m, generator=generator).clamp_(1e-9, 1.0 - 1e-7)
            yield -torch.log(-torch.log(uniform))

    def shake(n: int) -> torch.Tensor:
        return noise * torch.randn(n, step.net.condition_dim, generator=generator)

    def run() -> None:
        net.zero_grad(set_to_none=True)
        selector.zero_grad(set_to_none=True)
        lengths = torch.randint(1, min(BUDGET, m) + 1, (BATCH,), generator=generator)
        mask = textbook.purchases(
            selector,
            rows.x,
            rows.available(),
            rows.columns.expand,
            lengths,
            gumbel(),
            temperature=0.7,
        )
        out = net(rows.x * mask, mask, shake(BATCH))
        loss = textbook.cross_entropy(out.logits, rows.target, rows.weight)
        loss = loss + step.config.collapse_weight * textbook.collapse_loss(out)
        masks = step.sampler.sample(k)
        x = rows.x.view(*groups, -1) * masks.unsqueeze(1)
        replay = net(x, masks, shake(k))
        loss = loss + textbook.cross_entropy(
            replay.logits, rows.target.view(*groups, -1), rows.weight.view(groups)
        )
        loss.backward()

    return run


def acquisition(kind: str, m: int, n: int) -> Callable[[], None]:
    """Buy 10 features for n rows."""
    import textbook
    import torch

    from hyperdfs.acquisition import walk
    from hyperdfs.predictors.network import NetworkPredictor
    from hyperdfs.selectors.learned import LearnedSelector

    preset = "default" if kind == "default" else "paper"
    step, rows = make_step(preset, m)
    x = torch.randn(n, m)
    with torch.no_grad():  # an untrained selector hardly looks at x; this one buys at variance
        for weight in step.selector.parameters():
            weight.mul_(3.0)
    if kind == "textbook":
        net, selector = textbook.hypernet_like(step.net), textbook.scores_like(step.selector)
        return lambda: textbook.walk(net, selector, x, BUDGET)
    model = NetworkPredictor(step.net), LearnedSelector(step.selector)
    return lambda: walk(*model, x, torch.ones_like(x), rows.columns, BUDGET)


def live(m: int) -> dict[str, float]:
    """Median milliseconds of one `recommend()` and `proba`, after a fit and after a load."""
    import numpy as np
    import pandas as pd

    from hyperdfs import HyperDFSClassifier, load

    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(400, m)), columns=[f"f{i}" for i in range(m)])
    short = {"stage1_epochs": 1, "stage2_epochs": 1, "teacher_weight": 0.0}
    fitted = HyperDFSClassifier(config=short).fit(table, table.f0 + table.f1 > 0)
    with tempfile.TemporaryDirectory() as folder:
        fitted.save(Path(folder) / "model.hdfs")
        loaded = load(Path(folder) / "model.hdfs")
    result = {}
    for name, model in (("fitted", fitted), ("loaded", loaded)):
        times = []
        for i in range(50):
            case = model.start_case(f0=0.1 * i, f1=0.5)
            start = time.perf_counter()
            case.recommend()
            _ = case.proba
            times.append(1e3 * (time.perf_counter() - start))
        result[name] = median(times)
    return result


def fit_seconds(name: str) -> dict[str, float]:
    """A whole fit of the default preset."""
    import numpy as np

    from hyperdfs import HyperDFSClassifier
    from hyperdfs.datasets import load_dataset

    if name == "synpairs":
        data = load_dataset("synpairs", n_samples=8000)
        X, y = data.X, data.y
    else:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(216, 13))
        y = (X[:, :3].sum(1) + rng.normal(size=216) > 0).astype(int)
    start = time.perf_counter()
    HyperDFSClassifier().fit(X, y)
    return {"seconds": time.perf_counter() - start}


def timed(run: Callable[[], None], *, repeats: int) -> dict[str, float]:
    """Best time of some runs after a first one, and the memory they needed on top."""
    before = _resident("VmRSS")
    _reset_peak()
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(1e3 * (time.process_time() - start))
    return {"ms": min(times), "mb": _resident("VmHWM") - before}


def _resident(field: str) -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def _reset_peak() -> None:
    with suppress(OSError):  # the peak then includes the imports
        Path("/proc/self/clear_refs").write_text("5")


def job(name: str) -> dict[str, float]:
    """Run one measurement in this process: kind:size[:more]."""
    import torch

    from hyperdfs.heap import kept_memory

    torch.set_num_threads(1)
    kind, *arguments = name.split(":")
    if kind == "step":
        what, m = arguments[0], int(arguments[1])
        repeats = 4 if m > 100 and what != "default" else 20
        if what == "textbook":
            return timed(textbook_step(m), repeats=repeats)
        with kept_memory():  # as in a fit
            run = torch_step(m) if what == "torch" else library_step(what, m)
            return timed(run, repeats=repeats)
    if kind == "acquire":
        what, m, n = arguments[0], int(arguments[1]), int(arguments[2])
        return timed(acquisition(what, m, n), repeats=1)
    if kind == "live":
        return live(int(arguments[0]))
    return fit_seconds(arguments[0])


def measure(names: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """Each job in a process of its own, all of them in turn; the best of each."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for name in names:
            command = [sys.executable, __file__, "--job", name]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            new = json.loads(answer.splitlines()[-1])
            old = best.get(name, new)
            best[name] = {key: min(value, old[key]) for key, value in new.items()}
    return best


def main() -> None:
    from rich.console import Console
    from rich.table import Table

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round, no fits, fewer rows")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(job(options.job)))
        return
    rounds, n = (1, 2000) if options.quick else (2, 10_000)
    table = Table("measured", "textbook", "library", "ratio", "goal", title="one thread")

    found = {}
    for m, times in ((50, 3 * rounds), (689, rounds)):  # the short ones are the noisy ones
        steps = [f"step:{what}:{m}" for what in ("textbook", "paper", "torch", "default")]
        found |= measure(steps, times)
    goals = {"paper:50": "≥ 2", "paper:689": "≥ 2.5", "torch:50": "", "torch:689": ""}
    for name, goal in {**goals, "default:689": "≥ 8"}.items():
        preset, m = name.split(":")
        book, ours = found[f"step:textbook:{m}"], found[f"step:{name}"]
        title = "paper in torch" if preset == "torch" else preset
        table.add_row(
            f"step, M={m}, {title}",
            *(f"{book['ms']:.0f} ms", f"{ours['ms']:.0f} ms", f"{book['ms'] / ours['ms']:.1f}"),
            goal,
        )
    for preset in ("paper", "default"):
        book, ours = found["step:textbook:689"], found[f"step:{preset}:689"]
        table.add_row(
            f"memory of a step, M=689, {preset}",
            *(f"{book['mb']:.0f} MB", f"{ours['mb']:.0f} MB", f"{ours['mb'] / book['mb']:.2f}"),
            "≤ 0.33" if preset == "default" else "",
        )

    walks = [f"acquire:{what}:50:{n}" for what in ("textbook", "paper", "default")]
    found = measure(walks, rounds)
    book = found[walks[0]]
    for name, preset in zip(walks[1:], ("paper", "default"), strict=True):
        ours, ratio = found[name], book["ms"] / found[name]["ms"]
        table.add_row(
            f"10 of 50 features for {n:,} rows, {preset}",
            *(f"{book['ms'] / 1e3:.1f} s", f"{ours['ms'] / 1e3:.2f} s", f"{ratio:.1f}", "≥ 5"),
        )

    for name, value in measure(["live:50"], rounds)["live:50"].items():
        table.add_row(f"recommend() + proba, M=50, {name}", "", f"{value:.2f} ms", "", "≤ 2 ms")

    widths = [20, 50, 100, 200, 500, 1000, 2000]
    scaling = measure([f"step:default:{m}" for m in widths], 1)
    costs = [scaling[f"step:default:{m}"]["ms"] for m in widths]
    table.add_row(
        f"step, M={widths[0]}..{widths[-1]:,}, default",
        *("", " ".join(f"{c:.0f}" for c in costs) + " ms", f"M^{exponent(widths, costs):.2f}"),
        "≤ M^1.0",
    )

    if not options.quick:
        for name, title, goal in (
            ("synpairs", "fit, SynPairs 8,000 rows", "≤ 60 s"),
            ("heart", "fit, 216 rows x 13", "≤ 15 s"),
        ):
            seconds = measure([f"fit:{name}"], 1)[f"fit:{name}"]["seconds"]
            table.add_row(f"{title}, default", "", f"{seconds:.0f} s", "", goal)
    Console().print(table)


def exponent(sizes: list[int], costs: list[float]) -> float:
    """Slope of log cost over log size, by least squares."""
    import numpy as np

    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "nn")]
    main()
