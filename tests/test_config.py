"""Presets, single fields and what is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from hyperdfs.config import PRESETS, HyperConfig, make_config
from hyperdfs.errors import InputError


def test_the_papers_values():
    """Those that the paper states; where it is silent the default preset may differ."""
    paper = make_config("paper")
    stated = {
        "preprocessing": "paper",
        "teacher_weight": 0.0,
        "encoder": "set_transformer",
        "hypernetwork": True,
        "hyper_width": 128,
        "primary": (64,),
        "embed_dim": None,
        "weight_decay": 1e-4,
        "clip": 5.0,
        "noise": 0.2,
        "collapse_weight": 0.01,
        "validation_fraction": 0.1,
        "class_weight": None,
        "stage1_epochs": 200,
        "stage1_lr": 1e-2,
        "stage1_warmup": 5,
        "stage1_patience": 30,
        "scale_weight": 0.1,
        "scale_epochs": 50,
        "batch_size": 128,
    }
    assert {name: getattr(paper, name) for name in stated} == stated


@pytest.mark.parametrize("preset", PRESETS)
def test_single_fields_replace_those_of_a_preset(preset):
    plain = make_config(preset)
    changed = make_config(preset, {"stage1_epochs": 7, "primary": [3, 2]})
    assert (changed.stage1_epochs, changed.primary) == (7, (3, 2))
    same = changed.model_copy(update=plain.model_dump(include={"stage1_epochs", "primary"}))
    assert same == plain


@pytest.mark.parametrize("preset", PRESETS)
def test_a_configuration_survives_json(preset):
    config = make_config(preset, {"noise": 0.5})
    assert HyperConfig.model_validate_json(config.model_dump_json()) == config


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValidationError):
        make_config("default").noise = 1.0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("stage1_epochs", 0),
        ("stage1_epochs", 2.5),
        ("stage2_epochs", "many"),
        ("stage1_lr", 0.0),
        ("teacher_weight", 1.5),
        ("validation_fraction", 0.5),
        ("encoder", "lstm"),
        ("class_weight", "heavy"),
        ("temperature", (1.0,)),
        ("masks_per_batch", 0),
        ("token_dim", 6),  # four heads share it
    ],
)
def test_a_wrong_value_is_named(field, value):
    with pytest.raises(InputError) as caught:
        make_config("default", {field: value})
    assert repr(field) in str(caught.value) or f"'{field}." in str(caught.value)
    assert repr(value) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_field_or_preset():
    with pytest.raises(InputError, match=r"'stage3_epochs'.*stage1_epochs"):
        make_config("default", {"stage3_epochs": 1})
    with pytest.raises(InputError, match=r"default, paper, got 'best'"):
        make_config("best")


def test_a_wrong_width_is_named_by_its_place():
    with pytest.raises(InputError, match=r"'primary\.1' cannot be 0: "):
        make_config("default", {"primary": (64, 0)})
