"""`hyperdfs datasets`: the catalog."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def datasets(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the data sets that `load_dataset` knows.

    M is the number of features, C of classes. The ceiling is the mean macro-F1 in percent over 2 to
    10 purchases that a Bayes-optimal buyer reaches; only generators know theirs.
    """
    from hyperdfs.cli.screen import listing_table, print_json, stdout

    rows = _rows()
    if as_json:
        print_json(rows)
        return
    table = listing_table("Name", "Kind", ">M", ">C", ">Ceiling", "What it is")
    for row in rows:
        ceiling = "" if row["ceiling"] is None else f"{row['ceiling']:.1f}"
        sizes = (str(row["n_features"]), str(row["n_classes"]), ceiling)
        table.add_row(row["name"], row["kind"], *sizes, row["description"])
    stdout().print(table)


def _rows() -> list[dict[str, Any]]:
    from hyperdfs.datasets import dataset_info, dataset_names

    infos = [dataset_info(name) for name in dataset_names()]
    return [
        {
            "name": info.name,
            "kind": info.kind,
            "n_features": info.n_features,
            "n_classes": info.n_classes,
            "ceiling": info.ceiling.nested_auac if info.ceiling else None,
            "licence": info.licence,
            "description": info.description,
        }
        for info in infos
    ]
