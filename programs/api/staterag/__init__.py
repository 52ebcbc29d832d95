"""StateRAG in five lines.

    import staterag
    rag = staterag.load("embedded")
    docs = staterag.documents("notes/")
    p = rag("Who founded the older shipyard?", docs)
    p.answer, p.evidence, p.action, p.states, p.tokens

Importing this loads nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metrics.record import QueryRecord
    from programs.api.documents import documents
    from programs.api.load import load
    from programs.errors import InputError, ModelUnavailable, StateRAGError
    from programs.methods.registry import specs as methods
    from programs.settings import load_settings as settings

_PLACES = {
    "load": ("programs.api.load", "load"),
    "documents": ("programs.api.documents", "documents"),
    "settings": ("programs.settings", "load_settings"),
    "methods": ("programs.methods.registry", "specs"),
    "QueryRecord": ("metrics.record", "QueryRecord"),
    "StateRAGError": ("programs.errors", "StateRAGError"),
    "InputError": ("programs.errors", "InputError"),
    "ModelUnavailable": ("programs.errors", "ModelUnavailable"),
}

__all__ = [
    "InputError",
    "ModelUnavailable",
    "QueryRecord",
    "StateRAGError",
    "documents",
    "load",
    "methods",
    "settings",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'staterag' has no attribute {name!r}")
    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return __all__
