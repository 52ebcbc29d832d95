"""The methods by name: every folder here that has a `SPEC`, and those that installed packages bring.

A package brings methods through entry points of the group `staterag.methods`, each of which names a `MethodSpec`.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

import programs.methods
from programs.errors import InputError
from programs.methods.spec import MethodSpec

GROUP = "staterag.methods"


@cache
def specs() -> dict[str, MethodSpec]:
    """Every method's description by name, in the order of lists."""
    own = [
        import_module(f"programs.methods.{module.name}").SPEC
        for module in pkgutil.iter_modules(programs.methods.__path__)
        if module.ispkg
    ]
    others = [_brought(point.load(), point.value) for point in sorted(entry_points(group=GROUP))]
    found: dict[str, MethodSpec] = {}
    for one in sorted([*own, *others], key=lambda one: (one.place, one.name)):
        if one.name in found or one.branch in {known.branch for known in found.values()}:
            raise InputError(f"two methods are called {one.name!r} ({found[one.name].program}, {one.program})")
        found[one.name] = one
    for one in found.values():
        if one.base is not None and one.base not in found:
            raise InputError(f"{one.name} is a variant of {one.base!r}, and there is no such method")
    return found


def spec(name: str) -> MethodSpec:
    """A method's description, or an `InputError` that lists those there are."""
    if name not in specs():
        raise InputError(f"there is no method {name!r}; use one or several of {', '.join(specs())}")
    return specs()[name]


def _brought(found: object, where: str) -> MethodSpec:
    if not isinstance(found, MethodSpec):
        raise InputError(f"the entry point {where} of {GROUP} is no MethodSpec; uninstall or mend its package")
    return found
