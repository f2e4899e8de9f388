"""Tables in a user's files: rows, labels and what is wrong with them."""

from __future__ import annotations

import gzip
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import pandas as pd

from hyperdfs.datasets.table_cells import (
    EXACT,
    decimal_points,
    is_text,
    numbers_of,
    numbers_or_booleans,
    stripped,
    without_words,
)
from hyperdfs.errors import DataNotFoundError, InputError, MissingExtraError, listing, suggest

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
PARQUET = (".parquet", ".pq")
NO_NAME = "Unnamed: "  # how pandas begins the name of a column without one


def read_table(path: Path, missing: Sequence[str] = (), text: Iterable[str] = ()) -> pd.DataFrame:
    """A CSV, TSV or Parquet file, told by its suffix (``.gz`` may follow the first two).

    ``missing`` are words that stand for a missing value in every column, as an empty cell does.
    ``text`` are columns whose cells stay as they are written, 007 and 2.50.
    """
    need_file(path, "A table")
    suffix = table_suffix(path)
    if suffix in PARQUET:
        table = _read_parquet(path)
        return table.apply(without_words, words=missing) if missing else table
    if suffix not in SEPARATORS:
        raise InputError(
            f"A table must be a .csv, .tsv or .parquet file, got {path.name}; rename or convert it."
        )
    try:
        table = _read_text(path, SEPARATORS[suffix], missing, set(text))
    except InputError:
        raise
    except UnicodeError:
        raise InputError(_encoding_complaint(path)) from None
    except (ValueError, OSError, EOFError) as error:  # pandas' parser errors are ValueErrors
        reason = str(error).strip().removesuffix(".")
        raise InputError(f"{path} cannot be read as a table: {reason}.") from None
    if table.empty:
        raise InputError(f"A table needs rows and columns, {path} has none.")
    return table


def _read_text(path: Path, usual: str, missing: Sequence[str], text: set[str]) -> pd.DataFrame:
    separator = _separator(path, usual)
    _need_names_once(path, _header(path, separator))
    options: dict[str, Any] = {
        "sep": separator,
        "skipinitialspace": True,
        "keep_default_na": False,  # "None" and "NA" may be categories
        "na_values": ["", *missing],
        "dtype": dict.fromkeys(text, str),
        "low_memory": False,  # else the type of a column may change half-way
    }
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always", pd.errors.ParserWarning)
        table = pd.read_csv(path, index_col=False, **options)
    if any(issubclass(found.category, pd.errors.ParserWarning) for found in complaints):
        # Cells beyond the header's names were left out.
        _check_lost_cells(path, pd.read_csv(path, **options))
    _mend_large(path, options, table)
    spare = [c for c in table.columns if c.startswith(NO_NAME) and table[c].isna().all()]
    table = table.drop(columns=spare)  # a separator at the end of every line, the header's too
    for name in table.columns:
        table[name] = _read_cells(table[name], separator, missing, name in text)
    return table


def _read_cells(
    cells: pd.Series, separator: str, missing: Sequence[str], as_written: bool
) -> pd.Series:
    if not is_text(cells):
        return cells
    cells = stripped(cells, missing)
    if as_written:
        return cells
    if separator == ";":
        cells = decimal_points(cells)
    if not is_text(cells):
        return cells
    _, read = numbers_or_booleans(cells)  # blanks may have hidden what they are
    return cells if read is None else read


def _mend_large(path: Path, options: Mapping[str, Any], table: pd.DataFrame) -> None:
    """Large whole numbers, which a blank cell turns into floats, once more and without loss."""
    floats = table.select_dtypes("float")
    large = floats.columns[(floats.abs() >= EXACT).any()]
    if not len(large):
        return
    text = pd.read_csv(path, index_col=False, **{**options, "dtype": dict.fromkeys(large, str)})
    for name in large:
        numbers = numbers_of(text[name])
        table[name] = table[name] if numbers is None else numbers


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path) if path.suffix == ".gz" else path.open("rb"))


def _separator(path: Path, usual: str) -> str:
    """The usual separator, unless the header has none of it but another one."""
    with _open(path) as file:
        header = file.readline().decode("utf-8")
    header = re.sub(r'"[^"]*"', "", header)  # a separator inside quotes is none
    other = max(",;\t", key=header.count)
    return other if usual not in header and other in header else usual


def _header(path: Path, separator: str) -> list[str]:
    """The names as they are written; pandas would rename those that come twice."""
    row = pd.read_csv(
        path,
        sep=separator,
        header=None,
        nrows=1,
        dtype=str,
        skipinitialspace=True,
        keep_default_na=False,
    )
    return [name for name in row.iloc[0] if name]


def _need_names_once(path: Path, names: Sequence[Any]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"Column names must be unique, {path} has {listing(twice)} twice; rename or remove one."
        )


def _check_lost_cells(path: Path, table: pd.DataFrame) -> None:
    """Rows may be longer than the header only by separators at their end.

    In `table` pandas has taken as many cells at the start of each row for its index.
    """
    extra = table.index.nlevels
    if not table.iloc[:, -extra:].isna().all(axis=None):
        raise InputError(
            f"Rows must have as many cells as the header has names ({table.shape[1]}), the rows of "
            f"{path} have {table.shape[1] + extra}; name every column."
        )


def _encoding_complaint(path: Path) -> str:
    with _open(path) as file:
        start = file.read(2)
    source = "UTF-16" if start in (b"\xff\xfe", b"\xfe\xff") else "LATIN1"
    return (
        f"A table must be text in UTF-8, {path} is not; save it as UTF-8, e.g. with "
        f"`iconv -f {source} -t UTF-8 {path.name} > utf8.csv`."
    )


def table_suffix(path: Path) -> str:
    """``.csv`` of ``rows.csv`` and of ``rows.csv.gz``."""
    return Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()


def need_file(path: Path, what: str) -> None:
    if not path.is_file():
        raise DataNotFoundError(f"{what} must be a file, there is none at {path}; check the path.")


def _read_parquet(path: Path) -> pd.DataFrame:
    """An index with a name is a column like the others; one without counts rows."""
    try:
        from pyarrow.parquet import read_schema  # type: ignore[import-untyped]

        _need_names_once(path, read_schema(path).names)
        table = pd.read_parquet(path)
        new = [n for n in table.index.names if isinstance(n, str) and n not in table.columns]
        return table.reset_index(new).reset_index(drop=True)
    except ImportError:
        raise MissingExtraError(
            "Reading Parquet needs pyarrow; install hyperdfs[parquet] or convert the file to CSV."
        ) from None
    except InputError:
        raise
    except (ValueError, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}.") from None


@contextmanager
def file_rows(path: Path | str, rows: Sequence[int]) -> Iterator[None]:
    """Errors inside name the row of the file; `rows` are the positions there of those in use."""
    try:
        yield
    except InputError as error:
        found = re.match(r"row (\d+): ", str(error))
        if found is None:
            raise
        raise InputError(
            f"row {rows[int(found[1])] + 1} of {path} (row 1 is the first below the header): "
            f"{str(error)[found.end() :]}"
        ) from None


def need_columns(table: pd.DataFrame, names: Iterable[str]) -> None:
    for name in names:
        if name not in table.columns:
            raise InputError(
                f"The table has no column {name!r}; {suggest(name, list(table.columns))}"
            )
