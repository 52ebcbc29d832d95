"""Asking the auxiliary model for one query, with inputs cut to what its context holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from programs.methods.base import QueryRun
from programs.methods.prompt_room import head, room


@dataclass(frozen=True)
class Asking:
    """A query's run and the model that its steps ask."""

    run: QueryRun

    def all(
        self, predictor: dspy.Module, role: str, most: int, many: Sequence[Mapping[str, Any]]
    ) -> list[dspy.Prediction | None]:
        """Ask independent things in order. None stands where a completion could not be read."""
        return self.run.ask_all(predictor, role, self.completion(most), many)

    def completion(self, most: int) -> int:
        """Bound a completion to half the context, so that some input always fits."""
        return min(most, self.run.runtime.auxiliary.engine.capabilities.context_length // 2)

    def room(self, wanted: int, completion: int) -> int:
        """Give how many of the encoder tokens that an input wants fit beside a completion."""
        return min(wanted, room(self.run.runtime, self.completion(completion)))

    def tokens(self, text: str) -> int:
        """Count encoder tokens."""
        return len(self.run.runtime.encoder.spans(text))

    def head(self, text: str, tokens: int) -> str:
        """Cut a text after its first tokens."""
        return head(text, tokens, self.run.runtime.encoder)

    def fill(self, lines: Iterable[str], tokens: int) -> list[str]:
        """Take lines in order up to the first that does not fit; of a first line that does not, take the opening."""
        kept: list[str] = []
        left = tokens
        for line in lines:
            size = self.tokens(line)
            if size > left:
                break
            kept.append(line)
            left -= size
        else:
            return kept
        return kept or [self.head(line, tokens)]
