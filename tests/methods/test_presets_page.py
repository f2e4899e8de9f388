"""The page of the presets says what the code says.

`python tests/methods/test_presets_page.py` brings the tables of the page up to date.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hyperdfs.methods import METHODS, Method

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "presets.md"
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def table(method: Method) -> str:
    """Every field in which the published preset differs from the default one."""
    published = next(preset for preset in method.presets if preset != "default")
    theirs, ours = (method.configure(preset) for preset in (published, "default"))
    lines = [f"| field | {published} | default |", "|---|---|---|"]
    for field in method.config.model_fields:
        values = getattr(theirs, field), getattr(ours, field)
        if values[0] != values[1]:
            lines.append(f"| `{field}` | `{values[0]!r}` | `{values[1]!r}` |")
    return "\n".join(lines) + "\n"


def sections(text: str) -> dict[str, str]:
    """Method -> its section; a heading may name several methods with the same presets."""
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return {name: part for part in parts for name in re.findall(r"`(\w+)`", part.splitlines()[0])}


def renewed(text: str) -> str:
    for name, part in sections(text).items():
        text = text.replace(part, TABLE.sub(lambda _, name=name: table(METHODS[name]), part))
    return text


def test_every_method_with_a_published_preset_is_there() -> None:
    known = {name for name, method in METHODS.items() if set(method.presets) != {"default"}}
    assert set(sections(PAGE.read_text(encoding="utf-8"))) == known


@pytest.mark.parametrize("name", sorted(sections(PAGE.read_text(encoding="utf-8"))))
def test_its_table_is_that_of_the_code(name: str) -> None:
    section = sections(PAGE.read_text(encoding="utf-8"))[name]
    assert TABLE.findall(section) == [table(METHODS[name])]
    assert "Deviation:" in section


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
