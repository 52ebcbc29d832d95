"""Faults that a person can do something about, which the command line prints; and an engine's, which end a query."""

from __future__ import annotations


class StateRAGError(Exception):
    """Something the user gave, or their machine lacks; the message says what, where, and what to do."""


class InputError(StateRAGError):
    """A file, question, key or value that can't be used."""


class ModelUnavailable(StateRAGError):
    """A model, its weights or its server can't be had, or lacks a capability that the settings need."""


class ContextOverflow(Exception):
    """The prompt does not fit the model's context; says by how much."""


class TransportFault(Exception):
    """The engine could not be reached, or broke off, after the bounded retries that a client may make."""

    def __init__(self, message: str, retries: int = 0, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retries = retries
        self.retry_after = retry_after
        """Seconds that the other side asks for before the next try."""
