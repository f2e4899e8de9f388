"""The benchmark's page from a small store: complete, escaped, and with nothing to load."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from bench_stores import record, write_store
from html_balance import Balance
from hyperdfs.bench.cells import (
    CellKey,
    CellRecord,
    read_records,
    write_cell,
)
from hyperdfs.bench.paper import METHODS
from hyperdfs.cli.bench_report import report as report_command
from hyperdfs.datasets import dataset_info
from hyperdfs.errors import InputError
from hyperdfs.methods import METHODS as ALL_METHODS
from hyperdfs.report.benchmark import gather, render
from hyperdfs.report.benchmark.gather import commands
from hyperdfs.report.benchmark.looks import MOST_CURVES

EVIL = "<script>alert(1)</script>"


def cells() -> list[CellRecord]:
    """Three methods on four data sets, one of them with prices and one of image patches."""
    rng = np.random.default_rng(0)
    kinds = {"synpairs": "synthetic", "wine": "table", "heart": "table", "mnist": "images"}
    return [
        record(
            dataset,
            label,
            np.sort(rng.uniform(0.2, 0.9, 6)).tolist(),
            fold=fold,
            kind=kind,
            n_features=49 if kind == "images" else 9,
            costs=list(range(1, 10)) if dataset == "heart" else None,
            n_train=100 * (1 + len(dataset)),
        )
        for dataset, kind in kinds.items()
        for label in ("vip", "static_mlp", "hyperdfs")
        for fold in range(2)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_store(tmp_path_factory.mktemp("bench") / "store", cells())
    key = CellKey(dataset="wine", label="moe", fold=0)
    error = f"Traceback\n  somewhere\nMemoryError: {EVIL}"
    write_cell(root, CellRecord(key=key, status="failed", method="moe", error=error))
    return root


@pytest.fixture(scope="module")
def page(store: Path) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HYPERDFS_DATA", str(store))  # no images at hand
        return render(gather(store, read_records(store), page=Path("page.html")))


def section(page: str, anchor: str) -> str:
    return page.split(f'id="{anchor}"')[1].split("<h2 ")[0]


def test_the_page_is_well_formed_escaped_and_loads_nothing(page: str) -> None:
    balance = Balance()
    balance.feed(page)
    assert balance.open == []
    assert len(balance.ids) == len(set(balance.ids))
    assert set(balance.targets) <= set(balance.ids)
    assert not re.search(r"https?:|//[a-z]|@import|url\(|<script|<link|<img|<iframe", page)
    assert "prefers-color-scheme: dark" in page
    assert "MemoryError: &lt;script&gt;" in page


def test_every_part_is_there(page: str) -> None:
    assert section(page, "scores").count("<table") == 4  # three kinds and all together
    assert "critical difference" in section(page, "certainty")
    curves = section(page, "curves")
    assert curves.count('class="plot"') == 5  # four data sets, one of them also by money
    assert curves.count("<polygon") == 15  # three methods in each
    assert "Bayes ceiling" in curves
    assert section(page, "purchases").count('class="plot"') == 4
    assert "patch" in section(page, "patches")
    assert "rows × features" in section(page, "time")
    limits = section(page, "method")
    for text in ("ddof=0", "moe", "hyperdfs bench report", "0.1.0", "fold 0"):
        assert text in limits


def test_tables_are_named_and_wide_ones_scroll_without_a_mouse(page: str) -> None:
    found = re.finditer(r"<table class=\"([^\"]*)\">(.*?)</table>", page, re.DOTALL)
    tables = [(page[: each.start()], each[1], each[2]) for each in found]
    assert len(tables) == page.count("<table")
    assert {"scores", "values", "matrix", "pairs", "settings"} <= {kind for _, kind, _ in tables}
    for before, kind, content in tables:
        assert content.lstrip().startswith("<caption")
        assert all("scope=" in head for head in re.findall(r"<th\b[^>]*>", content))
        if kind != "patches":
            assert re.search(r'<div class="scroll" tabindex="0" [^>]*>$', before)


def test_a_key_of_the_methods_is_below_every_chart(page: str) -> None:
    charts = section(page, "curves").split('class="plot"')[1:]
    assert len(charts) == 5
    for chart in charts:
        key = chart.split('<p class="key">')[1].split("</p>")[0]
        assert re.findall(r"</i>(\w+)</span>", key) == ["hyperdfs", "vip", "static_mlp"]


def test_scores_by_money_begin_at_nothing_and_have_their_values(page: str) -> None:
    card = page.split('id="data-heart"')[1].split("</section>")[0]
    money = card.split("by the money spent")[1]
    assert "A feature costs 1 to 9 units of the prices." in money
    ticks = re.findall(r'class="tick mid"[^>]*>([\d.]+)<', money)
    assert ticks[0] == "0"
    (spent,) = {cell.cost[-1] for cell in cells() if cell.key.dataset == "heart"}
    assert f"<small>{spent:.3g}</small>" in money
    assert "by the money spent" not in page.split('id="data-wine"')[1].split("</section>")[0]


def test_published_prices_are_explained(tmp_path: Path) -> None:
    cell = record("heart@published", "vip", [0.1, 0.5, 0.6], n_folds=1, costs=[1, 1, 7.27, 102.9])
    write_store(tmp_path, [cell])
    text = section(render(gather(tmp_path, [cell], page=Path("page.html"))), "curves")
    assert "“@published” means heart with the prices that were published with the data" in text
    assert "A feature costs 1 to 102.9 Canadian dollars of 1995 (Turney 1995" in text
    assert "mean money spent, Canadian dollars of 1995" in text


def test_the_best_score_known_is_that_of_the_command_line(page: str) -> None:
    ceiling = dataset_info("synpairs").ceiling
    assert ceiling is not None
    assert f"best AUAC-F1 known: {ceiling.nested_auac:.1f} %" in section(page, "curves")
    assert f"{ceiling.auac:.1f}" not in page.split('id="data-synpairs"')[1].split("<svg")[0]


def test_a_newcomer_is_told_what_methods_and_data_sets_are(page: str) -> None:
    scores = section(page, "scores")
    assert f"<dt>vip</dt><dd>{ALL_METHODS['vip'].title}</dd>".replace("'", "&#39;") in scores
    assert dataset_info("wine").description in scores
    assert "AUAC-F1 is the mean of macro-F1" in scores


def test_numbers_of_the_page_are_those_of_the_store(page: str) -> None:
    wine = [cell for cell in cells() if cell.key.dataset == "wine" and cell.key.label == "vip"]
    mean = 100 * np.mean([cell.auac for cell in wine if cell.auac is not None])
    assert f"{mean:.1f}" in section(page, "scores")
    last = 100 * np.mean([cell.curves["f1_macro"][-1] for cell in wine])
    assert f"vip: {last:.1f} % after 5 bought" in section(page, "curves")


def test_method_colours_are_the_same_everywhere(page: str) -> None:
    slugs = dict(re.findall(r'<label class="(m\d+) \w+">.*?</i>(\w+)</label>', page))
    assert set(slugs.values()) == {"vip", "static_mlp", "hyperdfs"}
    for slug, label in slugs.items():
        titles = re.findall(rf'<g class="s {slug} \w+"><title>(\w+):', page)
        assert titles
        assert set(titles) == {label}
        assert f"body:has(#pick-{slug}:not(:checked)) .s.{slug}" in page


def test_the_picture_of_ranks_shows_methods_that_are_not_ticked(tmp_path: Path) -> None:
    labels = ["cwcf", "dime", "eddi", "gdfs", "invase", "repa", "sefa", "vip", "moe"]
    write_store(
        tmp_path,
        [
            record(dataset, label, [0.1, 0.2, 0.3 + i / 20, 0.5], n_folds=1)
            for dataset in ("wine", "heart")
            for i, label in enumerate(labels)
        ],
    )
    page = render(gather(tmp_path, read_records(tmp_path), page=Path("page.html")))
    hidden = re.findall(r'id="pick-(m\d+)">', page)
    assert len(hidden) == len(labels) - MOST_CURVES
    picture = section(page, "certainty").split("<svg")[1].split("</svg>")[0]
    assert re.findall(r'class="name end"[^>]*>(\w+)<', picture) == labels[::-1]
    rules = re.findall(r"\.([\w.]+) \{ display: none", page)
    assert rules
    for group in re.findall(r'<g class="([^"]*)"', picture):
        assert not any(set(rule.split(".")) <= set(group.split()) for rule in rules)


def test_every_curve_has_a_key_and_a_box(tmp_path: Path) -> None:
    """The constant buys anything and has no curve; nor has it a line among the times."""
    labels = ["hyperdfs", "vip", "constant"]
    write_store(
        tmp_path,
        [record("wine", label, [0.1, 0.5, 0.6], n_folds=1, n_train=80) for label in labels],
    )
    page = render(gather(tmp_path, read_records(tmp_path), page=Path("page.html")))
    boxes = set(re.findall(r'id="pick-(m\d+)"', page))
    for part in (section(page, "time"), section(page, "purchases")):
        lines = set(re.findall(r'<g class="s (m\d+) ', part))
        keys = set(re.findall(r'<span class="s (m\d+) ', part))
        assert lines
        assert lines == keys <= boxes
    assert len(boxes) == 2


def test_the_line_of_all_features_is_drawn_but_buys_nothing(tmp_path: Path) -> None:
    labels = ["hyperdfs", "vip", "full"]
    write_store(
        tmp_path,
        [record("wine", label, [0.1, 0.5, 0.6], n_folds=1, n_train=80) for label in labels],
    )
    report = gather(tmp_path, read_records(tmp_path), page=Path("page.html"))
    (view,) = report.datasets
    assert set(view.curves) == set(labels)
    assert view.agreement.labels == ["hyperdfs", "vip"]
    assert view.frequencies.labels == ["hyperdfs", "vip"]
    page = render(report)
    (slug,) = (method.slug for method in report.methods if method.label == "full")
    assert f".{slug} {{ --c: var(--ink); }}" in page
    (drawn,) = re.findall(rf'<g class="s {slug} controls">(.*?)</g>', section(page, "curves"))
    assert "polygon" not in drawn
    assert "polyline" in drawn


def test_many_methods_leave_the_matrix_the_whole_width(page: str, tmp_path: Path) -> None:
    assert 'class="pair beside"' in page
    labels = [*METHODS, "gdfs"][:11]
    write_store(tmp_path, [record("wine", label, [0.1, 0.5, 0.6], n_folds=1) for label in labels])
    wide = render(gather(tmp_path, read_records(tmp_path), page=Path("page.html")))
    assert 'class="pair"' in wide
    assert 'class="pair beside"' not in wide


def test_one_method_on_one_data_set_is_enough(tmp_path: Path) -> None:
    write_store(tmp_path, [record("wine", "vip", [0.1, 0.5, 0.6], n_folds=1)])
    page = render(gather(tmp_path, read_records(tmp_path), page=Path("page.html")))
    assert "Mean ranks are tested from 3 methods on; here is 1." in page
    Balance().feed(page)


def test_same_store_same_page(store: Path, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPERDFS_DATA", str(store))
    assert render(gather(store, read_records(store), page=Path("page.html"))) == page


def test_a_users_own_data_set_and_any_name(tmp_path: Path) -> None:
    write_store(tmp_path, [record("my table & co", "vip", [0.1, 0.5, 0.6], n_folds=1)])
    page = render(gather(tmp_path, read_records(tmp_path), page=Path("page.html")))
    assert "my table &amp; co" in page
    assert 'id="data-my-table-co"' in page


def test_the_commands_make_the_results_again() -> None:
    cells = [
        record("clinic", "long", [0.1, 0.5, 0.6], method="vip", seed=1),
        record("heart@published", "vip", [0.1, 0.5, 0.6], max_rows=20_000),
    ]
    run, table, _ = commands(Path("all/my store"), cells, Path("page.html"))
    assert run == (
        "hyperdfs bench run --methods long,vip --datasets clinic.toml,heart@published --folds 2 "
        "--seeds 2 --profile quick --plan PLAN.toml --out 'all/my store'"
    )
    assert table == "hyperdfs bench table --out 'all/my store'"


def test_the_command_writes_and_refuses(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERDFS_DATA", str(store))
    target = tmp_path / "report.html"
    report_command(out=store, to=target)
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    report_command(out=store, to=target, datasets="tables", methods="vip,hyperdfs")
    part = target.read_text(encoding="utf-8")
    assert "static_mlp" not in part
    assert "mnist" not in part
    assert "--to report.html --datasets tables --methods vip,hyperdfs" in part
    with pytest.raises(InputError, match="--methods must name stored results, got 'vipp'"):
        report_command(out=store, to=target, methods="vipp")
    with pytest.raises(InputError, match="matches both"):
        report_command(out=store, to=target, methods="moe", datasets="mnist")
    with pytest.raises(InputError, match="--to must be a file"):
        report_command(out=store, to=tmp_path)
    with pytest.raises(InputError, match="has no results"):
        report_command(out=tmp_path, to=target)
