"""Chooses the parameters of a method: `python -m optimize.parameters`."""
