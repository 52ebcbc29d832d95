"""Faults that a person can do something about. The command line prints them and exits with code 2."""

from __future__ import annotations


class StateRAGError(Exception):
    """Something the user gave, or their machine lacks; the message says what, where, and what to do."""


class InputError(StateRAGError):
    """A file, question, key or value that can't be used."""


class ModelUnavailable(StateRAGError):
    """A model, its weights or its server can't be had, or lacks a capability that the settings need."""
