"""What a search opens before it begins: the method that it starts from, and its development questions."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from typing import Any

from optimize.development import Development, open_development
from optimize.options import SearchRequest
from programs.errors import InputError
from programs.methods.registry import spec
from programs.selection.compiled import READER, read_compiled
from programs.selection.configured import ConfiguredMethod
from programs.settings import Settings, load_settings

MODELS = ("reader", "auxiliary")
"""Branches of the settings that name models and where they run, which are no choice of a search."""


def open_start(request: SearchRequest) -> ConfiguredMethod:
    """Settle what the search starts from: preset, then the start's parameters, then --set; memory is per query."""
    base = spec(request.method).base
    if base is not None:
        raise InputError(
            f"{request.method} is a variant of {base} and runs with what is compiled for it: search {base} instead"
        )
    spec(request.method).load()
    compiled = read_compiled(request.start, request.method) if request.start else None
    chosen = compiled.overrides if compiled else []
    always = ["memory.keep_global=false", f"lifecycle.answer={'true' if request.reader else 'false'}"]
    settings = load_settings(request.preset, [*chosen, *request.overrides, *always])
    if compiled is not None and compiled.preset != settings.preset:
        raise InputError(f"{request.start}: compiled for the preset {compiled.preset}; add --preset {compiled.preset}")
    if compiled is not None and not request.reader and any(name.startswith(READER) for name in compiled.prompts):
        raise InputError(f"{request.start}: has a prompt for the reader, who is not asked; add --reader")
    return ConfiguredMethod(request.method, settings, compiled)


def open_questions(request: SearchRequest) -> Development:
    names = request.workload.split(",")
    return open_development(names, request.data, request.questions, request.limit, request.train, request.seed)


def check_out(request: SearchRequest) -> None:
    """Refuse an outcome that can't be written."""
    if request.out.is_dir():
        raise InputError(f"{request.out} is a folder; name a file, for example {request.out / request.method}.json")


def fixed_settings(request: SearchRequest, settings: Settings) -> dict[str, Any]:
    """Give what --set says of the method, which a compiled file must say too; where models run is no part of it."""
    keys = [override.partition("=")[0].strip().split(".") for override in request.overrides]
    tree = settings.model_dump(mode="json")
    return {".".join(key): reduce(getitem, key, tree) for key in keys if key[0] not in MODELS}
