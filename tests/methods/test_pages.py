"""The pages on the methods: one for each, and what they link to exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hyperdfs.methods import METHODS

PAGES = Path(__file__).parents[2] / "docs" / "methods"
OVERVIEW = (PAGES / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_overview_has_every_method_and_its_presets(name: str) -> None:
    lines = [line for line in OVERVIEW.splitlines() if re.search(rf"`{name}`", line)]
    row = next(line for line in lines if line.startswith("|"))
    assert re.search(r"\]\([\w./]+\.md\)", row)
    assert all(preset in row for preset in METHODS[name].presets)


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_links_and_pictures_exist(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_the_gallery_shows_every_picture() -> None:
    shown = set(re.findall(r"img/(\w+)\.svg", (PAGES / "gallery.md").read_text(encoding="utf-8")))
    assert shown == {path.stem for path in (PAGES / "img").glob("*.svg")} <= set(METHODS)
