"""Tables as users' programs write them: separators, encodings, stray commas, codes as text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pytest

from hyperdfs.datasets.table_cells import read_gaps
from hyperdfs.datasets.table_files import read_table
from hyperdfs.errors import InputError

EXPECTED = {"age": [54, 61], "sex": ["F", "M"], "chol": [2.5, 3.25]}


def write(path: Path, *lines: str, encoding: str = "utf-8") -> Path:
    content = ("\n".join(lines) + "\n").encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.txt", "rows.csv.gz"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_header_tells_the_separator(name: str, separator: str, tmp_path: Path) -> None:
    lines = ["age,sex,chol", "54,F,2.5", "61,M,3.25"]
    path = write(tmp_path / name, *(line.replace(",", separator) for line in lines))
    assert read_table(path).to_dict("list") == EXPECTED


def test_a_separator_inside_quotes_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", '"age, in years";sex', "54;F", "61;M")
    assert list(read_table(path).columns) == ["age, in years", "sex"]


def test_a_single_column_needs_no_separator(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", "age", "54", "61")
    assert read_table(path).to_dict("list") == {"age": [54, 61]}


def test_decimal_commas_come_with_semicolons(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", "a;b;c;d", "1,5;2;x,y;3", "-0,25;;1,5;4,5e1", ";;;")
    table = read_table(path)
    assert table["a"].dropna().tolist() == [1.5, -0.25]
    assert table["d"].dropna().tolist() == [3.0, 45.0]
    assert table["c"].dropna().tolist() == ["x,y", "1,5"]  # one cell is text, so all are
    assert table["b"].dropna().tolist() == [2.0]


@pytest.mark.parametrize("word", ["?", "-", "NA", "n.a."])
def test_decimal_commas_beside_words_for_missing(word: str, tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", "a;b;y", "10,38;4,42;no", f"{word};-1;yes", "2;;no")
    table, _ = read_gaps(read_table(path))
    assert table["a"].fillna(-9).tolist() == [10.38, -9, 2]
    assert table["b"].fillna(-9).tolist() == [4.42, -1, -9]
    assert table["y"].tolist() == ["no", "yes", "no"]


@pytest.mark.parametrize("header", ["age,sex,chol", "age,sex,chol,"])
@pytest.mark.parametrize("end", [",", ",,"])
def test_commas_at_the_end_shift_nothing(header: str, end: str, tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", header, f"54,F,2.5{end}", f"61,M,3.25{end}")
    assert read_table(path).to_dict("list") == EXPECTED


def test_rows_longer_than_the_header_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", "age,sex", "1,54,F", "2,61,M")
    with pytest.raises(InputError, match=r"names \(2\), the rows of .* have 3; name every column"):
        read_table(path)


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", "age;sex", "54;F", encoding="utf-8-sig")
    assert list(read_table(path).columns) == ["age", "sex"]


@pytest.mark.parametrize(
    ("encoding", "remedy"), [("latin-1", "iconv -f LATIN1"), ("utf-16", "iconv -f UTF-16")]
)
@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_other_encodings_get_a_remedy(
    encoding: str, remedy: str, name: str, tmp_path: Path
) -> None:
    path = write(tmp_path / name, "age,city", "54,Köln", encoding=encoding)
    with pytest.raises(InputError, match=f"must be text in UTF-8.*{remedy}"):
        read_table(path)


def test_text_stays_as_it_is_written(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", "code,level,n", "007,2.50,01", "012,,2")
    table = read_table(path, text=["code", "level", "absent"])
    assert table["code"].tolist() == ["007", "012"]
    assert table["level"].dropna().tolist() == ["2.50"]
    assert table["n"].tolist() == [1, 2]
    decimals = write(tmp_path / "eu.csv", "code;n", "1,50;1,50")
    assert read_table(decimals, text=["code"]).to_dict("list") == {"code": ["1,50"], "n": [1.5]}


def test_a_column_without_name_that_holds_something_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    pd.DataFrame(EXPECTED).to_csv(path)
    assert list(read_table(path).columns) == ["Unnamed: 0", "age", "sex", "chol"]


@pytest.mark.parametrize("header", ["a,b,y,y", '"y",b,a, y'])
def test_a_name_that_comes_twice_is_refused(header: str, tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", header, "1,2,3,4")
    with pytest.raises(InputError, match=r"names must be unique, .*rows.csv has 'y' twice; rename"):
        read_table(path)


def test_an_index_with_a_name_is_a_column_of_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    rows = pd.DataFrame({"a": [3, 1, 2], "b": [0.5, 1.5, 2.5]})
    rows.set_index("a").to_parquet(tmp_path / "named.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "named.parquet"), rows)
    for name, index in (
        ("numbers", rows[rows.a > 1]),  # row numbers without a name
        ("kept", rows.set_index("a", drop=False)),  # twice the same
        ("whole", rows.rename_axis(3)),  # no name of a column
    ):
        index.to_parquet(tmp_path / f"{name}.parquet")
        assert list(read_table(tmp_path / f"{name}.parquet").columns) == ["a", "b"]


def test_a_name_that_comes_twice_in_parquet_is_refused(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table([[1, 2], [3, 4]], names=["a", "a"])
    parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=r"names must be unique, .* has 'a' twice"):
        read_table(tmp_path / "rows.parquet")


def test_blanks_at_the_ends_of_a_cell_do_not_count(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", "a,b,c,d", "F ,? ,true ,007 ", " F,1,false,x", "M,  ,,x ")
    table = read_table(path, missing=["?"], text=["d"])
    assert table["a"].tolist() == ["F", "F", "M"]
    assert table["b"].fillna(0).tolist() == [0, 1, 0]
    assert table["c"].dropna().tolist() == [True, False]
    assert table["d"].tolist() == ["007", "x", "x"]
