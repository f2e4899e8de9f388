"""What the page says of a data set: size, prices, what no method exceeds."""

from __future__ import annotations

from hyperdfs.bench.cells import CellRecord
from hyperdfs.bench.curves import prices_differ
from hyperdfs.datasets import dataset_info
from hyperdfs.datasets.base import DatasetInfo
from hyperdfs.errors import InputError


def entry(dataset: str) -> DatasetInfo | None:
    """What the catalog knows of it; None for a user's own table."""
    try:
        return dataset_info(dataset.partition("@")[0])
    except InputError:
        return None


def size(record: CellRecord) -> str:
    """In one line."""
    n_rows = record.n_train + record.n_test
    cap = f" (at most {record.key.max_rows:,})" if record.key.max_rows else ""
    return f"{n_rows:,} rows{cap}, {len(record.feature_names)} features, {record.n_classes} classes"


def description(dataset: str) -> str:
    """The catalog's line; empty for a user's own table."""
    info = entry(dataset)
    return info.description if info else ""


def money_unit(record: CellRecord) -> str:
    """What prices are in, as far as somebody said so."""
    info = entry(record.key.dataset)
    published = record.key.dataset.endswith("@published")
    return info.cost_sheet.unit if published and info and info.cost_sheet else "units of the prices"


def prices(record: CellRecord) -> str:
    """A sentence on what features cost; empty where all cost the same."""
    if not prices_differ(record):
        return ""
    low, high = min(record.costs), max(record.costs)
    name, _, published = record.key.dataset.partition("@")
    info = entry(name)
    span = f"A feature costs {low:g} to {high:g} {money_unit(record)}"
    if not published or info is None or info.cost_sheet is None:
        return f"{span}."
    return (
        f"“@published” means {name} with the prices that were published with the data "
        f"instead of 1 for every feature. {span} ({info.cost_sheet.source})."
    )


def ceiling(dataset: str, budget: int) -> tuple[dict[int, float], str]:
    """Macro-F1 that no buyer exceeds, at the first and last budget, where the truth is known.

    The AUAC-F1 beside it is that of the best policy known which buys one by one without knowing
    the budget, as every method must: the ceiling of `hyperdfs datasets`.
    """
    info = entry(dataset)
    if info is None or info.ceiling is None:
        return {}, ""
    best = info.ceiling
    title = (
        f"Bayes ceiling with all features: {best.all_features_f1:.1f} % "
        f"(best AUAC-F1 known: {best.nested_auac:.1f} %)"
    )
    flat = best.all_features_f1 / 100
    return {1: flat, budget: flat}, title
