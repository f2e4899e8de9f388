"""Save and load a fitted classifier: one zip of a JSON manifest and safetensors, never pickle."""

from __future__ import annotations

import hashlib
import json
import os
import textwrap
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

import hyperdfs
from hyperdfs.atomic import replacing
from hyperdfs.errors import DataNotFoundError, InputError, ModelFileError
from hyperdfs.features import FeatureSpace
from hyperdfs.fitting import FittedState, pick_device
from hyperdfs.methods import Shape, get_method
from hyperdfs.preprocess import Preprocessor

if TYPE_CHECKING:
    from hyperdfs.estimator import DFSClassifier

FORMAT = "hyperdfs-model"
VERSION = 2  # 1: embeddings as whole matrices
MANIFEST, TENSORS = "manifest.json", "tensors.safetensors"

# What zipfile and json raise for a file that was cut, damaged or of another kind.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    ValueError,
)


def save(model: DFSClassifier, path: str | Path) -> None:
    """Write atomically: the file at `path` is whole or as it was."""
    state = model._state
    meta, arrays = state.preprocessor.state()
    tensors = {f"preprocessor/{name}": array for name, array in arrays.items()}
    tensors["typical"] = state.typical
    for name, module in state.model.modules.items():
        for key, value in module.state_dict().items():
            tensors[f"model/{name}/{key}"] = value.detach().cpu().numpy()
    packed = save_tensors({k: np.ascontiguousarray(v) for k, v in tensors.items()})
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "hyperdfs": hyperdfs.__version__,
        "torch": str(torch.__version__),
        "sha256": hashlib.sha256(packed).hexdigest(),
        "estimator": type(model).__name__,
        "params": _params(state),
        "classes": _classes(model.classes_),
        "n_features_in": model.n_features_in_,
        "feature_names_in": _names(getattr(model, "feature_names_in_", None)),
        "input_columns": list(state.input_columns),
        "target": state.target,
        "preprocessor": meta,
        "shape": {
            "column_group": list(state.shape.column_group),
            "n_features": state.shape.n_features,
            "n_classes": state.shape.n_classes,
            "pixels": state.shape.pixels,
        },
        "config": state.config.model_dump(mode="json"),
        "members": state.members,
        "history": state.model.history,
    }
    text = json.dumps(manifest, indent=1, default=_plain)
    _write(_path(path), {MANIFEST: text.encode(), TENSORS: packed})


def load(path: str | Path, *, device: str = "auto") -> DFSClassifier:
    """Read a classifier that `save` wrote, onto any device."""
    target = pick_device(device)
    path = _path(path)
    manifest, arrays = _read(path)
    try:
        return _restore(manifest, arrays, target)
    except (AttributeError, LookupError, TypeError, RuntimeError, ValueError) as error:
        reason = textwrap.shorten(f"{type(error).__name__}: {error}", 100, placeholder=" ...")
        raise ModelFileError(
            f"A model file must be complete and consistent, {path} is not ({reason}); "
            "save the model again."
        ) from error


def _path(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"A model file is named by its path, got {path!r}.")
    return Path(path)


def _restore(
    manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray], device: torch.device
) -> DFSClassifier:
    from hyperdfs import estimator

    kinds = {c.__name__: c for c in (estimator.DFSClassifier, estimator.HyperDFSClassifier)}
    params = dict(manifest["params"])
    if isinstance(params["groups"], Mapping) and "feature_space" in params["groups"]:
        params["groups"] = FeatureSpace.from_dict(params["groups"]["feature_space"])
    model = kinds[manifest["estimator"]](**params)
    content = manifest["shape"]
    shape = Shape(**{**content, "column_group": tuple(content["column_group"])})
    method = get_method(model.method)
    config = method.config(**manifest["config"])
    built = method.build(shape, config, manifest["members"])
    for name, module in built.modules.items():
        prefix = f"model/{name}/"
        module.load_state_dict(
            {
                key.removeprefix(prefix): torch.from_numpy(array.copy())
                for key, array in arrays.items()
                if key.startswith(prefix)
            }
        )
    built.history = manifest["history"]
    prefix = "preprocessor/"
    stored = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
    model._state = FittedState(
        input_columns=tuple(manifest["input_columns"]),
        preprocessor=Preprocessor.from_state(manifest["preprocessor"], stored),
        shape=shape,
        config=config,
        members=manifest["members"],
        model=built.to(device),
        typical=arrays["typical"],
        target=manifest.get("target"),
        params=params,
    )
    model.classes_ = np.array(manifest["classes"]["labels"], dtype=manifest["classes"]["dtype"])
    if len(model.classes_) != shape.n_classes:
        raise ValueError(f"{len(model.classes_)} class labels for {shape.n_classes} classes")
    model.n_features_in_ = manifest["n_features_in"]
    if manifest["feature_names_in"] is not None:
        model.feature_names_in_ = np.array(manifest["feature_names_in"], dtype=object)
    model._publish()
    return model


def _params(state: FittedState) -> dict[str, Any]:
    """The parameters of the fit as JSON; prices and groups come from the fitted feature space."""
    params, space = dict(state.params), state.preprocessor.space
    params["costs"] = None if params["costs"] is None else space.costs.tolist()
    if params["groups"] is not None:
        params["groups"] = {"feature_space": space.to_dict()}
    if params["config"] is not None:
        params["config"] = dict(params["config"])
    params["device"] = str(params["device"])
    if not isinstance(params["random_state"], int | np.integer | type(None)):
        params["random_state"] = None  # a generator's state is spent by the fit
    return params


def _classes(classes: np.ndarray) -> dict[str, Any]:
    kind = "object" if classes.dtype == object else classes.dtype.str
    return {"labels": classes.tolist(), "dtype": kind}


def _plain(value: Any) -> Any:
    """numpy's numbers in a user's parameters as JSON."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise InputError(
        f"Parameters of a saved model must be text, numbers or lists, got {value!r}; "
        "fit it with a plain value."
    )


def _names(names: np.ndarray | None) -> list[str] | None:
    return None if names is None else list(names)


def _write(path: Path, members: Mapping[str, bytes]) -> None:
    if path.is_dir() or not path.parent.is_dir():
        raise DataNotFoundError(
            f"A model is saved as a file in a folder that exists, got {path}; check the path."
        )
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, content in members.items():
            # A fixed date, so that the same model gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if not path.is_file():
        raise DataNotFoundError(f"A model file is needed, there is none at {path}; check the path.")
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read(MANIFEST))
            packed = archive.read(TENSORS)
    except _UNREADABLE:
        raise ModelFileError(
            f"A model file must be a complete hyperdfs bundle, {path} is truncated or of another "
            "kind; save the model again with clf.save(...)."
        ) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError(
            f"A model file must say format {FORMAT!r}, {path} does not; it was written by "
            "another program."
        )
    if manifest.get("version") not in range(1, VERSION + 1):
        raise ModelFileError(
            f"This hyperdfs {hyperdfs.__version__} reads model files up to version {VERSION}, "
            f"{path} has version {manifest.get('version')!r}; upgrade hyperdfs."
        )
    if hashlib.sha256(packed).hexdigest() != manifest.get("sha256"):
        raise ModelFileError(
            f"The tensors of a model file must match its checksum, those of {path} do not; "
            "the file is damaged, copy it again."
        )
    try:
        return manifest, load_tensors(packed)
    except SafetensorError as error:
        raise ModelFileError(f"The tensors of {path} cannot be read: {error}.") from None
