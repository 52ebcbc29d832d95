"""What a compiled program may set: what its method declares, within the bounds that it declares there.

Everything else would let a file that someone handed on decide where questions and evidence are sent, with whose key,
or what is read and written on this machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from programs.errors import InputError
from programs.json_file import shortened
from programs.methods.registry import spec
from programs.methods.space import SHARED, Parameter, Space
from programs.settings import Settings


def check_names(method: str, keys: Iterable[str]) -> None:
    """Refuse what the method does not declare."""
    declared = {parameter.key for parameter in spec(method).declared}
    for key in keys:
        if key not in declared:
            raise InputError(
                f"sets {shortened(key)!r}, which a compiled {method} may not: it sets what the method declares for "
                "searches, and never a model, an address, a key or a path; take it out, and give it by --set or in a "
                "preset of your own"
            )


def check_values(method: str, parameters: Mapping[str, Any], preset: Settings) -> None:
    """Refuse a value from outside of the bounds, in which there is always room for the preset's own."""
    declared = spec(method).declared
    _check(parameters, [parameter for parameter in declared if parameter.key in _KEYS_OF_ALL])
    cut = preset.changed({key: value for key, value in parameters.items() if key in _KEYS_OF_ALL})
    _check(parameters, Space.around(declared, cut).parameters)
    preset.changed(parameters)


_KEYS_OF_ALL = frozenset(parameter.key for parameter in SHARED)


def _check(parameters: Mapping[str, Any], among: Iterable[Parameter]) -> None:
    bounds: dict[str, list[Parameter]] = {}
    for parameter in among:
        bounds.setdefault(parameter.key, []).append(parameter)
    for key, value in parameters.items():
        if key in bounds and not any(parameter.admits(value) for parameter in bounds[key]):
            told = " or ".join(json.dumps(parameter.described()) for parameter in bounds[key])
            raise InputError(f"setting {key!r}: {shortened(str(value))} is outside of what it may be set to: {told}")
