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
from programs.selection.declared import check_names, check_values
from programs.settings import Settings, load_settings

MODELS = ("reader", "auxiliary", "cross_encoder", "encoder.engine", "encoder.model")
"""Settings that name models and where they run, which are no choice of a search: a compiled file says by which models
it was chosen, and may name none to run."""


def open_start(request: SearchRequest) -> ConfiguredMethod:
    """Settle what the search starts from: preset, then the start's parameters, then --set; memory is per query."""
    base = spec(request.method).base
    if base is not None:
        raise InputError(
            f"{request.method} is a variant of {base} and runs with what is compiled for it: search {base} instead"
        )
    spec(request.method).load()
    compiled = read_compiled(request.start, request.method, request.preset) if request.start else None
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
    """Give what --set says of the method, which a compiled file must say too, so it must be what one may say."""
    keys = [override.partition("=")[0].strip() for override in request.overrides]
    said = [key for key in keys if not f"{key}.".startswith(tuple(f"{name}." for name in MODELS))]
    tree = settings.model_dump(mode="json")
    try:
        check_names(request.method, said)
        fixed = {key: reduce(getitem, key.split("."), tree) for key in said}
        check_values(request.method, fixed, load_settings(request.preset))
    except InputError as error:
        raise InputError(f"what the search would write {error}") from error
    return fixed
