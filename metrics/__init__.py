"""Scores as pure functions of the records and references that a run folder holds."""
