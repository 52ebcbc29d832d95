"""Chooses the prompts of a method: `python -m optimize.prompts`."""
