"""The sentences at the top of the page hold whatever the numbers are."""

from __future__ import annotations

from bench_stores import record
from hyperdfs.bench.cells import CellRecord
from hyperdfs.bench.table import tabulate
from hyperdfs.methods import METHODS
from hyperdfs.report.benchmark.looks import MOST_CURVES, first_seen, list_methods
from hyperdfs.report.benchmark.story import headline, reference_of, significance, winners

NAMES = "abcdefgh"


def cells(scores: dict[str, list[float]]) -> list[CellRecord]:
    """One fold of each method on data sets a, b, …"""
    return [
        record(NAMES[i], label, [0.0, 0.1, value, value], n_folds=1)
        for label, values in scores.items()
        for i, value in enumerate(values)
    ]


def told(scores: dict[str, list[float]]) -> list[str]:
    results = tabulate(cells(scores))
    return headline(results, significance(results, reference_of(results)))


def test_a_clear_winner() -> None:
    up = [0.5 + i / 100 for i in range(8)]
    sentences = told({"hyperdfs": [v + 0.1 + v / 9 for v in up], "vip": up})
    assert sentences == [
        "hyperdfs has the best mean AUAC-F1 (69.4 %) and the best mean rank (1.00 of 2) over "
        "8 data sets.",
        "hyperdfs is ahead on 8 of 8 data sets.",
        "hyperdfs is significantly better than 1 of 1 other method (Wilcoxon over data sets, "
        "Holm-corrected).",
    ]


def test_ours_may_lose() -> None:
    up = [0.5 + i / 100 for i in range(8)]
    sentences = told({"hyperdfs": up, "vip": [v + 0.1 + v / 9 for v in up]})
    assert sentences[0].startswith("vip has the best mean")
    assert "better than 0 of 1 other method and worse than 1" in sentences[2]


def test_ties_are_told_as_ties() -> None:
    sentences = told({"vip": [0.9, 0.1], "static_mlp": [0.8, 0.5]})
    assert "static_mlp has the best mean AUAC-F1 (65.0 %); vip and static_mlp share" in sentences[0]
    assert sentences[1] == "vip and static_mlp are each ahead on 1 of 2 data sets."
    assert sentences[2] == "2 data sets cannot show that a difference is no accident."


def test_a_variant_on_one_data_set_takes_nobodys_test_away() -> None:
    up = [0.5 + i / 100 for i in range(8)]
    rivals = {"hyperdfs": [v + 0.1 for v in up], "vip": up, "moe": [v - 0.1 for v in up]}
    found = tabulate(cells({**rivals, "mine": [0.99]}))
    tests = significance(found, reference_of(found))
    assert tests.n_datasets == 8
    assert tests.friedman is not None
    assert tests.friedman.labels == ("hyperdfs", "vip", "moe")
    assert tests.left_out.startswith("mine is left out")
    assert "over 8 data sets" in headline(found, tests)[0]


def test_a_reference_that_is_left_out_gives_way() -> None:
    up = [0.5 + i / 100 for i in range(4)]
    found = tabulate(cells({"hyperdfs": [0.9], "vip": up, "moe": up, "dime": up}))
    assert reference_of(found) == "dime"
    assert significance(found, "dime").comparisons
    few = tabulate(cells({"vip": up, "moe": up[:3], "dime": up[:3]}))
    assert "over 3 of 4 data sets" in headline(few, significance(few, "vip"))[0]


def test_a_field_of_controls_is_no_win() -> None:
    """Beyond the shared data sets only two controls ran: what is won there is not counted."""
    up = [0.5 + i / 100 for i in range(8)]
    rivals = {"vip": [v + 0.1 for v in up[:4]], "moe": up[:4], "gdfs": up[:4]}
    ours = {"hyperdfs": [0.4] * 4 + [0.9] * 4, "random_mlp": up, "static_mlp": up}
    found = tabulate(cells({**ours, **rivals}))
    assert winners(found) == {"vip": 4}
    assert headline(found, significance(found, "hyperdfs"))[1] == (
        "vip is ahead on 4 of the 4 data sets that all 6 compared methods have finished."
    )


def test_one_method_has_no_rivals() -> None:
    assert told({"vip": [0.9, 0.1]}) == []


def test_references_neither_win_nor_lead() -> None:
    results = tabulate(cells({"oracle": [0.9], "vip": [0.5], "moe": [0.6]}))
    assert winners(results) == {"moe": 1}
    assert reference_of(results) == "moe"
    assert headline(results, significance(results, "moe"))[0].startswith("moe has the best")


MANY = {
    **{"hyperdfs": [0.1, 0.1], "hyperens": [0.1, 0.1], "mine": [0.9]},
    **{"vip": [0.6, 0.9], "dime": [0.7, 0.8], "sefa": [0.5, 0.7]},
    **{"aaco": [0.2], "moe": [0.3], "ensemble": [0.4], "gdfs": [0.1, 0.2]},
    **{"random": [0.1, 0.0], "random_mlp": [0.2, 0.1], "oracle": [1.0, 1.0]},
    **{"full": [1.0, 1.0], "constant": [0.9, 0.9]},
}


def test_methods_that_are_shown_at_first_have_colours_of_their_own() -> None:
    found = cells(MANY)
    methods = list_methods(tabulate(found), found, found[0].key.label)
    assert {m.label for m in methods if m.hue is None} == {"oracle", "full"}
    shown = [m.hue for m in methods if m.ticked and m.hue is not None]
    assert len(set(shown)) == len(shown) == MOST_CURVES - 2
    pair = cells({label: [0.5] for label in ("vip", "hyperdfs")})
    ours, _ = list_methods(tabulate(pair), pair, pair[0].key.label)
    assert ours.hue == methods[0].hue  # that of our method stays the same


def test_few_methods_are_all_drawn_and_of_many_ours_the_bounds_and_the_best() -> None:
    """The best control is among them: on some data sets nothing else ran beside ours."""
    few = tabulate(cells({"hyperdfs": [0.1], "vip": [0.2], "constant": [0.3]}))
    assert first_seen(few, reference_of(few)) == {"hyperdfs", "vip", "constant"}
    best = {"hyperdfs", "hyperens", "oracle", "full", "random_mlp", "mine"}
    assert first_seen(tabulate(cells(MANY)), "hyperdfs") == best
    bare = {label: up for label, up in MANY.items() if label not in ("oracle", "full", "mine")}
    found = first_seen(tabulate(cells(bare)), "hyperdfs")
    assert {"hyperdfs", "hyperens", "vip", "dime", "random_mlp"} < found
    assert len(found) == MOST_CURVES


def test_the_reference_and_something_of_every_data_set_are_drawn_at_first() -> None:
    """Ours is the last of seven variants, and on one set only a method ran that is not shown."""
    found = [record("a", "hyperdfs", [0.0, 0.1, 0.1])]
    for i in range(7):
        score = [0.0, 0.2, 0.2 + 0.1 * i]
        found.append(record("a", f"part{i}", score, method="hyperdfs"))
    found.append(record("b", "part0", [0.0, 0.1, 0.2], method="hyperdfs"))
    found.append(record("a", "vip", [0.0, 0.95, 0.95]))  # better placed than those of the next line
    found += [record("c", name, [0.0, 0.1, 0.2 + i]) for i, name in enumerate(("cwcf", "eddi"))]
    shown = first_seen(tabulate(found), "hyperdfs")
    assert "hyperdfs" in shown
    for dataset in "abc":
        ran = {cell.key.label for cell in found if cell.key.dataset == dataset}
        assert shown & ran
    assert len(shown) < len({cell.key.label for cell in found})


def test_methods_are_told_to_a_newcomer() -> None:
    found = [*cells({"vip": [0.5]}), record("a", "long", [0.0, 0.1, 0.2], method="vip")]
    what = {m.label: m.what for m in list_methods(tabulate(found), found, found[0].key.label)}
    assert what == {"vip": METHODS["vip"].title, "long": "a variant of vip"}
