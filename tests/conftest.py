"""What holds for every test: no clock decides, and no line breaks where a message is looked for."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from programs.commands.terminal import err, out

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A width of the environment is fixed when a console is made, so the consoles are told theirs."""
    for console in (out, err):
        monkeypatch.setattr(console, "_width", 400)
