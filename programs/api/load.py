"""Loading a method with its models: the same system as the command line's, as a DSPy program."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dspy

from programs.errors import InputError
from programs.models import network
from programs.models.runtime import open_runtime
from programs.selection.configured import ConfiguredMethod, configure

if TYPE_CHECKING:
    from programs.methods.base import Program

DEFAULT = "embedded"


def load(
    preset: str | None = None,
    overrides: Mapping[str, Any] | Sequence[str] = (),
    compiled: str | PathLike[str] | None = None,
    method: str = "staterag",
    *,
    reader: dspy.BaseLM | None = None,
    auxiliary: dspy.BaseLM | None = None,
    offline: bool = False,
) -> Program:
    """Load a method and its models: a `dspy.Module` that is called with a question and documents.

    Preset, overrides and compiled program are settled as `ask` settles them: `overrides` are `{"lifecycle.cycles": 3}`
    or `["lifecycle.cycles=3"]`, and `compiled="none"` runs the preset as it is. `reader` and `auxiliary` take any
    `dspy.LM` in place of the preset's models; one of them alone serves for both. Where no preset is named and no model
    given, the one that `dspy.configure` set is taken, if there is one.

    What goes to another machine is named on stderr first; with `offline` a need to is an error, before anything loads.

    Leaving a `with` block, or `close()`, frees the models that were loaded here. Raises what the command line would
    print: `InputError`, or `ModelUnavailable`.
    """
    if preset is None and reader is None and auxiliary is None:
        reader = dspy.settings.lm
    reader, auxiliary = reader or auxiliary, auxiliary or reader
    configured = configured_with(preset or DEFAULT, overrides, compiled, method, reader, auxiliary)
    with network.offline(offline):
        runtime = open_runtime(configured.settings, reader=reader, auxiliary=auxiliary)
    program = configured.open(runtime)
    program.owned = runtime
    return program


def configured_with(
    preset: str,
    overrides: Mapping[str, Any] | Sequence[str],
    compiled: str | PathLike[str] | None,
    method: str,
    reader: dspy.BaseLM | None,
    auxiliary: dspy.BaseLM | None,
) -> ConfiguredMethod:
    """Settle what runs. Models that are handed in stand in the settings, so that records say what answered."""
    listed = [_written(*one) for one in overrides.items()] if isinstance(overrides, Mapping) else overrides
    handed = {"reader": reader, "auxiliary": auxiliary}
    named = [
        f"{part}={json.dumps({'engine': 'dspy', 'model': lm.model})}" for part, lm in handed.items() if lm is not None
    ]
    configured = configure(method, preset, [*named, *listed], None if compiled is None else Path(compiled))
    if configured.note and configured.compiled is None:
        warnings.warn(configured.note, stacklevel=3)
    return configured


def _written(key: str, value: Any) -> str:
    try:
        return f"{key}={json.dumps(value)}"
    except (TypeError, ValueError) as error:
        raise InputError(f"setting {key!r}: a {type(value).__name__} that can't be one ({error})") from error
