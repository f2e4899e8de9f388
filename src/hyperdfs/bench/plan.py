"""A plan: which methods on which data sets, and the cells that follow from it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hyperdfs.bench.cells import CellKey
from hyperdfs.bench.choices import Choice
from hyperdfs.bench.protocol import CellTask
from hyperdfs.config import first_problem
from hyperdfs.datasets import dataset_names
from hyperdfs.datasets.cards import is_card
from hyperdfs.errors import DataNotFoundError, InputError, listing, suggest
from hyperdfs.methods import get_method, method_names

QUICK_ROWS = 20_000
NAME = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]*")  # also a folder of the store


class Variant(BaseModel):
    """A method in a setting of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    preset: str = "default"
    config: dict[str, Any] = Field(default_factory=dict)  # fields of the preset to replace


class Plan(BaseModel):
    """What to run. `methods` names methods or variants; without any, all variants are meant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    datasets: tuple[str, ...]
    methods: tuple[str, ...] = ()
    variants: dict[str, Variant] = Field(default_factory=dict)
    folds: int = Field(5, ge=2)
    seeds: int = Field(1, ge=1)
    profile: Literal["full", "quick"] = "full"  # quick: at most 20,000 rows of each data set
    slurm: dict[str, Any] = Field(default_factory=dict)  # what submitit is told

    def rows_of(self) -> dict[str, Variant]:
        """Label -> setting: the rows of the tables that this plan fills."""
        labels = dict.fromkeys(self.methods or self.variants)
        if not labels:
            raise InputError("A plan needs at least one method, got none; name some in --methods.")
        return {label: self._variant(label) for label in labels}

    def _variant(self, label: str) -> Variant:
        if not NAME.fullmatch(label):
            raise InputError(
                f"The name of a variant must be made of letters, digits and . _ + -, got {label!r}."
            )
        if label not in self.variants and label not in method_names():
            known = ", ".join([*self.variants, *method_names()])
            raise InputError(f"methods must be among {known}, got {label!r}.")
        variant = self.variants.get(label) or Variant(method=label)
        if label in method_names() and variant.method != label:
            raise InputError(
                f"A variant must not bear the name of another method, got {label!r} for one of "
                f"{variant.method!r}; choose another name."
            )
        get_method(variant.method).configure(variant.preset, variant.config)  # an error is due now
        return variant


def read_plan(path: Path | None, **options: Any) -> Plan:
    """The plan of a TOML file, in which the given options replace what it says.

    Paths of cards in the file are relative to it.
    """
    content: dict[str, Any] = {}
    if path is not None:
        content = _toml(path)
        listed = content.get("datasets")
        if isinstance(listed, list):
            content["datasets"] = [_beside(path, str(name)) for name in listed]
    content.update({name: value for name, value in options.items() if value is not None})
    for key in content:
        if key not in Plan.model_fields:
            raise InputError(f"A plan has no key {key!r}; {suggest(key, Plan.model_fields)}")
    for key in ("datasets", "methods"):
        if isinstance(content.get(key), str):
            each = [name.strip() for name in content[key].split(",")]
            raise InputError(f"The plan's {key} must be a list, write {key} = {json.dumps(each)}.")
    if not content.get("datasets"):
        raise InputError("A plan needs at least one data set, got none; name some in --datasets.")
    try:
        return Plan(**content)
    except ValidationError as error:
        raise InputError(f"The plan's {first_problem(error)}") from None


def cells(plan: Plan, choices: Iterable[Choice]) -> list[CellTask]:
    """The cells of a plan, seed by seed and fold by fold: a plan that is stopped early then has
    results of every method on every data set rather than all folds of a few.

    A method that needs the generator of the data is run on synthetic sets only."""
    rows, chosen = plan.rows_of(), list(choices)
    for choice in chosen:
        _check_folds(plan, choice)
    tasks = [
        CellTask(
            key=CellKey(
                dataset=choice.name,
                label=label,
                fold=fold,
                seed=seed,
                max_rows=_cap(plan, choice),
            ),
            source=choice.source,
            method=variant.method,
            preset=variant.preset,
            overrides=_overrides(variant, choice),
            n_folds=plan.folds,
            fingerprint=choice.fingerprint,
        )
        for seed in range(plan.seeds)
        for fold in range(plan.folds)
        for choice in chosen
        for label, variant in rows.items()
        if _applies(variant, choice)
    ]
    if not tasks:
        raise InputError(
            f"{listing(rows)} can be run on synthetic data only, whose posterior is known, got "
            f"{listing(choice.name for choice in chosen)}; add --datasets synthetic, say."
        )
    return tasks


def left_out(plan: Plan, choices: Iterable[Choice]) -> dict[str, list[str]]:
    """Label -> the data sets on which it cannot be run, for labels with any."""
    rows, chosen = plan.rows_of(), list(choices)
    without = {
        label: [choice.name for choice in chosen if not _applies(variant, choice)]
        for label, variant in rows.items()
    }
    return {label: names for label, names in without.items() if names}


def _applies(variant: Variant, choice: Choice) -> bool:
    needy = get_method(variant.method).needs_generator
    return not needy or choice.source in dataset_names("synthetic")


def _check_folds(plan: Plan, choice: Choice) -> None:
    if plan.folds > choice.largest_class:
        raise InputError(
            f"folds must be at most the rows of the largest class, {choice.largest_class:,} in "
            f"{choice.name!r}, got {plan.folds:,}; choose fewer."
        )


def _overrides(variant: Variant, choice: Choice) -> dict[str, Any]:
    if not get_method(variant.method).needs_generator:
        return variant.config
    return {"dataset": choice.source, **variant.config}


def _cap(plan: Plan, choice: Choice) -> int | None:
    return QUICK_ROWS if plan.profile == "quick" and choice.n_rows > QUICK_ROWS else None


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DataNotFoundError(f"There is no plan {path}; check --plan.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"The plan {path} is no TOML file: {error}.") from None


def _beside(plan: Path, name: str) -> str:
    """A path in a plan is relative to the plan; a name of the catalog stays as it is."""
    return str(plan.parent / name) if is_card(name) else name
