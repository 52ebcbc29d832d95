"""The command line on scripted models, and how it turns bad input away."""

from __future__ import annotations

import pytest
from typer.testing import Result

from programs import run
from programs.models.runtime import Runtime
from programs.settings import Settings
from tests.support.runs import scripted_runtime


def open_scripted(monkeypatch: pytest.MonkeyPatch) -> list[Runtime]:
    """Open scripted models where the command line would load real ones, and list what was opened."""
    opened: list[Runtime] = []

    def open_models(settings: Settings) -> Runtime:
        opened.append(scripted_runtime(settings))
        return opened[-1]

    monkeypatch.setattr(run, "open_models", open_models)
    return opened


def check_refused(result: Result, said: str) -> None:
    """Bad input is one clear line and exit code 2."""
    assert result.exit_code == 2, result.output
    assert said in result.stderr, result.output
    assert "Traceback" not in result.output
