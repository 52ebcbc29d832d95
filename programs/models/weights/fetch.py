"""A model's name to its weights on this machine: the user's own folder, the cache, the hub, a registry package.

Nothing is used whose sha256 is not the catalogue's, but for a path that the user gives in place of a name.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

from programs.errors import InputError, ModelUnavailable
from programs.models.weights.catalogue import CatalogueModel, catalogue, find
from programs.models.weights.downloads import download, model_folder
from programs.models.weights.sources import FOLDER_VARIABLE
from programs.models.weights.verified import known_sha256, read_sha256, sha256_of


@dataclass(frozen=True)
class WeightStatus:
    """What the machine holds of a model, as the `models` command shows it."""

    name: str
    present: bool
    verified: bool
    bytes: int
    path: Path
    """Where the weights are, or would be put."""


def fetch(name: str) -> Path:
    """Give the path of a model's weights: the file of a GGUF model, else the folder that holds its files.

    `name` is a model of the catalogue, or a path of the user's, which is taken as it is.
    """
    model = find(name)
    if model is None:
        return _own_path(name)
    return _path_in(_users_folder(model) or _cached(model) or download(model), model)


def status() -> list[WeightStatus]:
    """Say for each model of the catalogue what is here. Nothing is hashed; `check` does that."""
    return [_status(model) for model in catalogue()]


def check(name: str) -> WeightStatus:
    """Read a model's files whole and compare them with the catalogue, whatever was remembered of them."""
    model = find(name)
    if model is None:
        raise InputError(f"there is no model {name!r} in the catalogue; it has {_names()}")
    for path in _paths(_standing_folder(model), model):
        if path.is_file():
            read_sha256(path)
    return _status(model)


def _names() -> str:
    return ", ".join(model.name for model in catalogue())


def _paths(folder: Path, model: CatalogueModel) -> list[Path]:
    return [folder / file.path for file in model.files]


def _path_in(folder: Path, model: CatalogueModel) -> Path:
    return folder / model.files[0].path if model.kind == "gguf" else folder


def _own_path(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_dir() or (path.is_file() and path.suffix == ".gguf"):
        return path.absolute()
    raise ModelUnavailable(
        f"{name!r} is neither a model of the catalogue ({_names()}) nor the path of a .gguf file or a model folder"
    )


def _users_folder(model: CatalogueModel) -> Path | None:
    """Look through the folder that the user names, and say so when a file there is not what its name says."""
    for folder in _named_folders(model):
        if _is_whole(folder, model):
            if _is_right(folder, model):
                return folder
            if folder.name == model.name or model.kind == "gguf":
                warnings.warn(f"{folder} has files of {model.name!r} with another sha256; not used", stacklevel=3)
    return None


def _named_folders(model: CatalogueModel) -> list[Path]:
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        return []
    root = Path(named).expanduser().absolute()
    if not root.is_dir():
        raise InputError(f"{FOLDER_VARIABLE} is {named!r}, which is not a folder")
    return [root / model.name, root]


def _is_whole(folder: Path, model: CatalogueModel) -> bool:
    return all(path.is_file() for path in _paths(folder, model))


def _is_right(folder: Path, model: CatalogueModel) -> bool:
    return all(sha256_of(folder / file.path) == file.sha256 for file in model.files)


def _cached(model: CatalogueModel) -> Path | None:
    folder = model_folder(model)
    return folder if _is_whole(folder, model) and _is_right(folder, model) else None


def _standing_folder(model: CatalogueModel) -> Path:
    """Find where the model stands, without reading it: the user's folder if the files are all there, else the cache."""
    return next((f for f in _named_folders(model) if _is_whole(f, model)), model_folder(model))


def _status(model: CatalogueModel) -> WeightStatus:
    folder = _standing_folder(model)
    paths = _paths(folder, model)
    right = [known_sha256(path) == file.sha256 for path, file in zip(paths, model.files, strict=True)]
    size = sum(path.stat().st_size for path in paths if path.is_file())
    return WeightStatus(model.name, _is_whole(folder, model), all(right), size, _path_in(folder, model))
