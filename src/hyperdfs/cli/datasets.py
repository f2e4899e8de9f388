"""`hyperdfs datasets`: the catalog, or one entry of it in full."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from hyperdfs.datasets import DatasetInfo


def datasets(
    name: Annotated[
        str | None, typer.Argument(help="One data set in full; also the card of your own table.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the data sets that `load_dataset` knows, or show one of them in full.

    N is the number of rows, M of features, C of classes. The ceiling is the mean macro-F1 in
    percent over 2 to 10 purchases that a Bayes-optimal buyer reaches; only generators know theirs.
    A data set at hand needs no file, or its files are in the folder $HYPERDFS_DATA or in the cache.
    """
    from hyperdfs.cli.screen import print_json, stdout
    from hyperdfs.datasets import dataset_info, dataset_names, is_card

    if name is None:
        rows = [_row(dataset_info(each)) for each in dataset_names()]
        print_json(rows) if as_json else _show_catalog(stdout(), rows)
        return
    content = _own(Path(name)) if is_card(name) else _entry(dataset_info(name))
    print_json(content) if as_json else _show_entry(stdout(), content)


def _row(info: DatasetInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "kind": info.kind,
        "n_rows": info.n_rows,
        "n_features": info.n_features,
        "n_classes": info.n_classes,
        "ceiling": info.ceiling.nested_auac if info.ceiling else None,
        "at_hand": info.at_hand,
        "licence": info.licence,
        "description": info.description,
    }


def _entry(info: DatasetInfo) -> dict[str, Any]:
    """Everything the catalog knows of a data set."""
    from dataclasses import asdict

    from hyperdfs.datasets.files import find_files

    found = {path.name: str(path) for path in find_files(info.files) or ()}
    files = [
        [asdict(file) | {"path": found.get(file.name.rpartition("/")[2])} for file in together]
        for together in info.files
    ]
    return {
        **_row(info),
        "source": info.source,
        "target": info.target,
        "majority_share": info.majority_share,
        "class_counts": dict(info.class_counts),
        "dropped": dict(info.dropped),
        "notes": list(info.notes),
        "files": files,
        "content_sha256": info.content,
        "all_features_f1": info.ceiling.all_features_f1 if info.ceiling else None,
        "published_costs": asdict(info.cost_sheet) if info.cost_sheet else None,
    }


def _own(path: Path) -> dict[str, Any]:
    """What was found in a user's own table."""
    import numpy as np

    from hyperdfs.bench.choices import check_cells
    from hyperdfs.datasets import load_dataset
    from hyperdfs.preprocess.readings import infer_kind

    data = load_dataset(path)
    check_cells(data, path)
    counts = np.bincount(data.y, minlength=data.n_classes).tolist()
    names = data.features.names
    columns = zip(names, data.features.columns, strict=True)
    return {
        "name": data.name,
        "kind": data.kind,
        "n_rows": len(data.X),
        "n_features": len(names),
        "n_classes": data.n_classes,
        "licence": data.licence,
        "description": data.description,
        "source": data.source,
        "class_counts": dict(zip(data.class_names, counts, strict=True)),
        "kinds": {str(name): infer_kind(name, data.X[name]) for name in data.X.columns},
        "missing_cells": int(data.X.isna().to_numpy().sum()),
        "groups": {name: list(members) for name, members in columns if len(members) > 1},
        "costs": dict(zip(names, data.costs.tolist(), strict=True)),
        "notes": list(data.notes),
    }


def _show_catalog(console: Console, rows: list[dict[str, Any]]) -> None:
    from hyperdfs.cli.screen import listing_table

    table = listing_table("Name", "Kind", ">N", ">M", ">C", ">Ceiling", "At hand", "What it is")
    for row in rows:
        ceiling = "" if row["ceiling"] is None else f"{row['ceiling']:.1f}"
        sizes = (f"{row['n_rows']:,}", str(row["n_features"]), str(row["n_classes"]), ceiling)
        at_hand = "yes" if row["at_hand"] else "no"
        table.add_row(row["name"], row["kind"], *sizes, at_hand, row["description"])
    console.print(table)
    console.print("\nOne in full: hyperdfs datasets NAME")


def _show_entry(console: Console, content: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    console.print(Text.assemble((content["name"], "bold"), "  ", content["description"]))
    grid = Table.grid(padding=(0, 2))
    for label, lines in _facts(content):
        for i, line in enumerate(lines):
            grid.add_row(Text("" if i else label, "bold"), Text(line))
    console.print(grid)


def _facts(content: dict[str, Any]) -> Iterable[tuple[str, list[str]]]:
    """Label and lines of everything there is to say."""
    from hyperdfs.cli.screen import counted

    yield "rows", [f"{content['n_rows']:,}"]
    yield "features", [str(content["n_features"])]
    counts = content["class_counts"]
    yield "classes", _pairs(counts) if counts else [str(content["n_classes"])]
    yield "target", [content["target"]] if content.get("target") else []
    yield "dropped", _pairs(content.get("dropped", {}))
    yield "kinds", list(_kind_lines(content.get("kinds", {})))
    yield "groups", _pairs(content.get("groups", {}))
    yield "costs", _pairs(content.get("costs", {}))
    if "missing_cells" in content:
        yield "missing", [counted(content["missing_cells"], "cell")]
    if content.get("ceiling") is not None:
        yield "ceiling", [f"{content['ceiling']:.1f} % mean macro-F1 over 2 to 10 purchases"]
    yield "licence", [content["licence"]]
    yield "source", [content["source"]]
    yield "notes", [f"- {note}" for note in content.get("notes", [])]
    hashed = bool(content.get("content_sha256"))
    yield "files", list(_file_lines(content.get("files", []), hashed))
    if hashed:
        yield "content", [f"sha256 {content['content_sha256']} of all values and labels"]
    if content.get("published_costs"):
        yield "prices", list(_price_lines(content["published_costs"]))


def _kind_lines(kinds: dict[str, str]) -> Iterable[str]:
    from hyperdfs.cli.screen import counted
    from hyperdfs.errors import listing

    plurals = {"number": "numbers", "boolean": "booleans", "category": "categories"}
    for kind, plural in plurals.items():
        names = [name for name, found in kinds.items() if found == kind]
        if names:
            yield f"{counted(len(names), kind, plural)}: {listing(names, 20)}"


def _pairs(mapping: dict[str, Any]) -> list[str]:
    from hyperdfs.cli.screen import number

    return [
        f"{name}: {', '.join(map(str, value)) if isinstance(value, list) else number(value)}"
        for name, value in mapping.items()
    ]


def _file_lines(alternatives: list[list[dict[str, Any]]], hashed: bool) -> Iterable[str]:
    for i, together in enumerate(alternatives):
        for file in together:
            where = f"at {file['path']}" if file["path"] else "not at hand"
            home = f", download {file['url']}" if file["url"] and not file["path"] else ""
            yield f"{file['name']}: {where}{home}"
            if file["checksum"]:
                algorithm, _, digits = file["checksum"].rpartition(":")
                yield f"  {algorithm or 'sha256'} {digits}"
            elif not hashed:
                yield "  no published checksum: verified by its counts"
        if i + 1 < len(alternatives):
            yield "or"


def _price_lines(sheet: dict[str, Any]) -> Iterable[str]:
    from hyperdfs.cli.screen import number

    for name, price in sheet["prices"].items():
        line = f"{name}: {number(price['cost'])}"
        if price["group"]:
            line += f", or {number(price['discounted'])} after another of {price['group']!r}"
        yield line + ("; the result is delayed" if price["delayed"] else "")
    yield f"in {sheet['unit']}; {sheet['source']}"
