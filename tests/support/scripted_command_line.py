"""The command line on scripted models in a process of its own: `python -m tests.support.scripted_command_line ask …`."""

from __future__ import annotations

from programs import run
from tests.support.runs import scripted_runtime

if __name__ == "__main__":
    run.open_models = scripted_runtime
    run.app()
