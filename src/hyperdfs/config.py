"""Every number of a fit in one place. A fitted model records its whole configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hyperdfs.errors import InputError, suggest

Width = Annotated[int, Field(ge=1)]
# K, the distinct masks in a batch; "quarter": one for every four rows, None: one for every row
MaskBudget = Annotated[int, Field(ge=1)] | Literal["quarter"] | None


class TableConfig(BaseModel):
    """From a table to columns and targets: the part that all methods share.

    class_weight : how much a row of a class that holds the share p of the rows counts. None: 1, and
    probabilities are frequencies. "balanced": 1/p, as if all classes were equally common. "root":
    1/sqrt(p), between the two; rare classes are then predicted often enough for a good macro-F1,
    which neither extreme achieves on small tables.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    preprocessing: Literal["default", "paper"] = "default"
    n_bins: int | None = Field(None, ge=0)  # quantile bins per number; None: by the rows
    validation_fraction: float = Field(0.1, gt=0, lt=0.5)
    class_weight: Literal["root", "balanced"] | None = "root"
    teacher_weight: float = Field(0.0, ge=0, le=1)  # share of the teacher in the targets


class HyperConfig(TableConfig):
    """Configuration of Hyper-DFS; the defaults are `preset="default"`."""

    teacher_weight: float = Field(0.5, ge=0, le=1)

    # Networks
    encoder: Literal["set_transformer", "inducing_pool", "deep_sets", "raw_mask"] = "inducing_pool"
    encoder_layers: int = Field(2, ge=1)
    # None: 32, or 64 above 100 features; it is shared out to four heads
    token_dim: int | None = Field(None, ge=4, multiple_of=4)
    condition_dim: int | None = Field(None, ge=1)
    hypernetwork: bool = True
    hyper_width: int = Field(32, ge=1)
    primary: tuple[Width, ...] = (64,)
    embed_dim: int | None = Field(8, ge=1)  # learned inputs per feature; None: its columns
    # None: no compressor but for pixels, 128, or 16 where it does not see the mask
    compress_to: int | None = Field(None, ge=1)
    compressor_sees_mask: bool = True
    selector_hidden: tuple[Width, ...] = (64,)

    # Both stages
    batch_size: int | None = Field(None, ge=1)
    weight_decay: float = Field(1e-4, ge=0)
    clip: float = Field(5.0, gt=0)
    average_epochs: float = Field(3.0, ge=0)  # the weights are a running mean over these
    noise: float = Field(0.2, ge=0)
    collapse_weight: float = Field(0.01, ge=0)

    # Stage 1: the predictor on random subsets
    stage1_epochs: int = Field(40, ge=1)
    stage1_lr: float = Field(5e-3, gt=0)
    stage1_warmup: int = Field(5, ge=0)  # epochs
    stage1_patience: int = Field(30, ge=1)
    masks_per_batch: MaskBudget = "quarter"
    scale_weight: float = Field(0.1, ge=0)
    scale_epochs: int = Field(50, ge=1)  # the scale loss fades out over these

    # Stage 2: selector and predictor jointly
    stage2_epochs: int = Field(40, ge=1)
    stage2_epoch_steps: int = Field(12, ge=1)  # few rows are passed over several times
    stage2_lr: float | None = Field(None, gt=0)  # None: 3e-4, or 3e-3 for pixels
    selector_lr: float = Field(3e-3, gt=0)
    stage2_patience: int = Field(15, ge=1)
    temperature: tuple[float, float] = (1.0, 0.2)  # Gumbel softmax, first and last epoch
    start_order: bool = True  # the selector sets out from a good order for everybody
    replay: bool = True  # random subsets go on in stage 2
    select_by: Literal["auac", "log_loss"] = "log_loss"
    cost_weight: float = Field(1.0, ge=0)

    # Stage 3: the selector anew, by trying purchases out; 0 steps: none
    rollout_steps: int = Field(400, ge=0)
    rollout_lr: float = Field(1e-2, gt=0)


PAPER: dict[str, Any] = {
    "preprocessing": "paper",
    "class_weight": None,
    "teacher_weight": 0.0,
    "encoder": "set_transformer",
    "embed_dim": None,
    "compressor_sees_mask": False,
    "average_epochs": 0.0,
    "hyper_width": 128,
    "selector_hidden": (128, 128),
    "batch_size": 128,
    "masks_per_batch": 16,
    "stage1_epochs": 200,
    "stage1_lr": 1e-2,
    "stage2_epochs": 100,
    "stage2_epoch_steps": 1,
    "stage2_lr": 1e-3,
    "selector_lr": 1e-3,
    "start_order": False,
    "select_by": "auac",
    "rollout_steps": 0,
}

PRESETS: dict[str, dict[str, Any]] = {"default": {}, "paper": PAPER}

Config = TypeVar("Config", bound=TableConfig)


def make_config(
    preset: str,
    overrides: Mapping[str, Any] | None = None,
    *,
    kind: type[Config] = HyperConfig,  # type: ignore[assignment]
    presets: Mapping[str, Mapping[str, Any]] = PRESETS,
) -> Config:
    """The named preset with single fields replaced.

    >>> make_config("paper", {"stage1_epochs": 3}).stage1_epochs
    3
    """
    if not isinstance(preset, str) or preset not in presets:
        raise InputError(f"preset must be one of {', '.join(presets)}, got {preset!r}.")
    if not isinstance(overrides or {}, Mapping):
        raise InputError(
            f"config must map field names to values, got {overrides!r}; "
            "write {'stage1_epochs': 20}, say."
        )
    values = {**presets[preset], **(overrides or {})}
    for field in values:
        if field not in kind.model_fields:
            raise InputError(f"config has no field {field!r}; {suggest(field, kind.model_fields)}")
    try:
        return kind(**values)
    except ValidationError as error:
        raise InputError(f"config field {first_problem(error)}") from None


def first_problem(error: ValidationError) -> str:
    """``'field' cannot be value: reason.``; all reasons where one of several forms would do."""
    problems = error.errors()
    field, value = _place(problems[0]["loc"]), problems[0]["input"]
    reasons = [problem["msg"] for problem in problems if _place(problem["loc"]) == field]
    return f"{field!r} cannot be {value!r}: {'; or: '.join(dict.fromkeys(reasons))}."


def _place(loc: tuple[int | str, ...]) -> str:
    """Names and positions; what pydantic calls the forms of a field is no part of either."""
    return ".".join(str(part) for part in loc if isinstance(part, int) or part.isidentifier())
