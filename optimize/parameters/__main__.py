"""Chooses parameters: `python -m optimize.parameters`. See --help for its options."""

from __future__ import annotations

from optimize.options import ParameterRequest, program
from programs.commands.terminal import open_models

HELP = """Choose the parameters of a method on development questions, and write them to a compiled file.

Run the same command again to go on with a search that was stopped, or with more --trials to go on with one that ended.
"""


def search(request: ParameterRequest) -> None:
    from optimize.parameters.run import run_search

    run_search(request, open_models)


app = program(ParameterRequest, search, HELP)

if __name__ == "__main__":
    app()
