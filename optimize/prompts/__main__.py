"""Chooses prompts: `python -m optimize.prompts`. See --help for its options."""

from __future__ import annotations

from optimize.options import PromptRequest, program
from programs.commands.terminal import open_models

HELP = """Choose the prompts of a method on development questions, and write them to a compiled file.

Run the same command again to go on with a search that was stopped: what was answered is not asked again.
"""


def search(request: PromptRequest) -> None:
    from optimize.prompts.run import run_search

    run_search(request, open_models)


app = program(PromptRequest, search, HELP)

if __name__ == "__main__":
    app()
