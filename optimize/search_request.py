"""What every search is asked for: a method, its development questions, and where the outcome goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from optimize.development import TRAIN, Development, open_development
from optimize.study import COMPLETIONS
from programs.errors import InputError
from programs.methods.compiled import READER, read_compiled
from programs.methods.contender import Contender
from programs.methods.registry import method_class
from programs.settings import Settings, load_settings

MODELS = ("reader", "auxiliary")
"""Branches of the settings that name models and where they run, which are no choice of a search."""


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """The options that all searches have."""

    method: str
    workload: str
    out: Path
    data: Path | None = None
    questions: Path | None = None
    limit: int | None = None
    train: float = TRAIN
    seed: int = 0
    preset: str = "embedded"
    overrides: list[str] = field(default_factory=list)
    reader: bool = False
    quality: str | None = None
    workers: int = 1
    search: Path | None = None
    start: Path | None = None
    completions: Path | None = None

    @property
    def kind(self) -> str:
        """What sets this search's own folder apart from others of the same method."""
        return ""

    @property
    def folder(self) -> Path:
        """Where the search is kept."""
        return self.search or Path("runs/search") / f"{Path(self.preset).stem}-{self.method}{self.kind}"

    @property
    def kept(self) -> Path:
        """Where completions are kept: with the search, unless searches and development runs are to share them."""
        return self.completions or self.folder / COMPLETIONS

    @property
    def metric(self) -> str:
        """The quality to search by."""
        return self.quality or ("f1" if self.reader else "title_mention")

    def contender(self) -> Contender:
        """Settle what the search starts from: preset, then the start's parameters, then --set; memory is per query."""
        method_class(self.method)
        compiled = read_compiled(self.start, self.method) if self.start else None
        chosen = compiled.overrides if compiled else []
        always = ["memory.keep_global=false", f"lifecycle.answer={'true' if self.reader else 'false'}"]
        settings = load_settings(self.preset, [*chosen, *self.overrides, *always])
        if compiled is not None and compiled.preset != settings.preset:
            raise InputError(f"{self.start}: compiled for the preset {compiled.preset}; add --preset {compiled.preset}")
        if compiled is not None and not self.reader and any(name.startswith(READER) for name in compiled.prompts):
            raise InputError(f"{self.start}: has a prompt for the reader, who is not asked; add --reader")
        return Contender(self.method, settings, compiled)

    def development(self) -> Development:
        """Open the development questions."""
        return open_development(self.workload.split(","), self.data, self.questions, self.limit, self.train, self.seed)

    def check_out(self) -> None:
        """Refuse an outcome that can't be written."""
        if self.out.is_dir():
            raise InputError(f"{self.out} is a folder; name a file, for example {self.out / self.method}.json")

    def fixed(self, settings: Settings) -> dict[str, Any]:
        """Give what --set says of the method, which a compiled file must say too; where models run is no part of it."""
        keys = [override.partition("=")[0].strip().split(".") for override in self.overrides]
        tree = settings.model_dump(mode="json")
        return {".".join(key): reduce(getitem, key, tree) for key in keys if key[0] not in MODELS}
