"""Which models a set of settings names, down to the hashes of their weights, as manifests and compiled files say it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from pydantic import Field

from programs.frozen import Frozen
from programs.settings import Settings

Part = Literal["reader", "auxiliary", "encoder", "cross_encoder"]
IN_PROCESS = ("llama", "onnx", "sentence-transformers")
"""Engines whose weights are files here."""


class ModelIdentity(Frozen):
    """A model and the hashes of its weights, where they are files here."""

    part: Part
    engine: str
    model: str
    sha256: dict[str, str] = Field(default_factory=dict)

    def may_be(self, other: ModelIdentity) -> bool:
        """Tell whether this is the other, as far as names, engines and hashes say.

        A server shows no weights, so it is taken at its word: what it calls by the same name is the same model.
        """
        engines = {self.engine, other.engine}
        hashed = bool(self.sha256 and other.sha256)
        return (
            (self.part, self.model) == (other.part, other.model)
            and (len(engines) == 1 or "server" in engines)
            and (not hashed or self.sha256 == other.sha256)
        )

    def __str__(self) -> str:
        """Name it for a person, with the beginning of a hash where two weights may have one name."""
        weights = f" {min(self.sha256.values())[:8]}" if self.sha256 else ""
        return f"{self.part} {self.model} ({self.engine}{weights})"


def named_models(settings: Settings) -> tuple[ModelIdentity, ...]:
    """Name the models of some settings, without a look at their weights."""
    parts: tuple[Part, ...] = get_args(Part)
    return tuple(
        ModelIdentity(part=part, engine=getattr(settings, part).engine, model=getattr(settings, part).model)
        for part in parts
    )


def model_identities(settings: Settings) -> tuple[ModelIdentity, ...]:
    """Name the models of some settings, with the hashes of weights that are files here."""
    return tuple(
        entry.model_copy(update={"sha256": _hashes(entry)}) if entry.engine in IN_PROCESS else entry
        for entry in named_models(settings)
    )


def _hashes(entry: ModelIdentity) -> dict[str, str]:
    """Give the sha256 of a model's files, fetching what is not here: a run is named by what it loads."""
    from programs.models.weights.catalogue import find
    from programs.models.weights.verified import sha256_of

    known = find(entry.model)
    if known is not None:
        return {file.path: file.sha256 for file in known.files}
    path = _place(entry)
    if path.is_file():
        return {path.name: sha256_of(path)}
    files = (file for file in sorted(path.rglob("*")) if file.is_file())
    return {file.relative_to(path).as_posix(): sha256_of(file) for file in files}


def _place(entry: ModelIdentity) -> Path:
    """Find a model that is not the catalogue's. Only sentence-transformers takes names of the hub."""
    if entry.engine == "sentence-transformers":
        from programs.models.encoders.sentence_encoder import weights_folder

        return weights_folder(entry.model)
    from programs.models.weights.fetch import fetch

    return fetch(entry.model)
