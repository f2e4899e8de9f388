"""docs/datasets.md says what the catalog holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hyperdfs.datasets import dataset_info, dataset_names
from hyperdfs.datasets.cards import Card

TEXT = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", dataset_names())
def test_every_data_set_is_described(name: str) -> None:
    assert f"`{name}`" in TEXT
    info = dataset_info(name)
    if info.kind == "synthetic":
        return
    row = next(line for line in TEXT.splitlines() if line.startswith(f"| `{name}` |"))
    cells = [cell.strip() for cell in row.split("|")]
    sizes = (f"{info.n_rows:,}", str(info.n_features), str(info.n_classes))
    assert tuple(cells[2:5]) == sizes
    for files in info.files:
        if len(files) <= 2:
            assert all(file.name in row for file in files)
    # What is downloaded is set in bold.
    assert any(all(file.url for file in files) for files in info.files) == ("**" in row)


def test_what_has_no_checksum_is_told() -> None:
    text = " ".join(TEXT.split())
    start = text.index("Two have no published checksum: verified by its counts")
    told = set(re.findall(r"`(\w+)`", text[start : text.index(". The same goes", start)]))
    unknown = {
        info.name
        for info in map(dataset_info, dataset_names())
        if not info.content and any(f.url and not f.checksum for files in info.files for f in files)
    }
    assert told == unknown


def test_every_key_of_a_card_is_shown() -> None:
    start = TEXT.index("```toml")
    example = TEXT[start : TEXT.index("```", start + 3)]
    for key in Card.model_fields:
        assert f"\n{key} = " in example or f"\n[{key}]" in example
