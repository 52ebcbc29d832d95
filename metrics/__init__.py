"""Scores as pure functions of predictions, references and offsets."""
