"""Files of prices and groups: what they may hold, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperdfs.cli.files import read_costs, read_groups
from hyperdfs.errors import InputError

PRICES = {"age": 1.0, "NA": 2.5}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.csv", "feature,price\nage,1\nNA,2.5\n"),
        ("p.csv", "feature;price\nage;1\nNA;2,5\n"),
        ("p.json", '{"age": 1, "NA": 2.5}'),
        ("p.toml", "age = 1\nNA = 2.5\n"),
    ],
)
def test_prices(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert read_costs(tmp_path / name) == PRICES


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", "feature,price\nage,1\nage,2\n", r"must come once, .*p.csv has 'age' twice"),
        ("p.json", '{"age": 1, "age": 2}', r"must come once, .*p.json has 'age' twice"),
        ("p.csv", "age,1\nsex,2\n", r"need a header, .*p.csv begins with 'age' and '1'; put"),
        ("p.csv", "age;1,5\nsex;2\n", r"need a header"),
        ("p.csv", "feature,price\nage,true\nsex,false\n", r"must be one number"),
        ("p.json", '{"age": true}', r"must be one number"),
        ("p.toml", "age = true", r"must be one number"),
        ("p.tsv", "feature\tprice\nage\t1\n", r"from a .csv, .json or .toml file, got p.tsv"),
    ],
)
def test_refused_prices(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        read_costs(tmp_path / name)


def test_refused_groups(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text('{"p": ["a"], "p": ["b"]}')
    with pytest.raises(InputError, match=r"has 'p' twice"):
        read_groups(tmp_path / "g.json")
    (tmp_path / "g.csv").write_text("p,a\n")
    with pytest.raises(InputError, match=r"from a .json or .toml file, got g.csv"):
        read_groups(tmp_path / "g.csv")
