"""A search in a process of its own, which a test can kill. It is imported once by a fork server and forked from there."""

from __future__ import annotations

from pathlib import Path

from optimize.parameters.trial import Trial
from tests.optimize.parameter_world import run

LATENCY = 0.002
OPTIONS = {"method": "staterag", "trials": 5, "limit": 5}


def search_once(data: str, search: str) -> Trial:
    """Begin the search or go on with it."""
    folder = Path(search)
    return run(Path(data), LATENCY, search=folder, out=folder.with_suffix(".json"), **OPTIONS)
