"""An instruction is for questions to come, so it may not quote the ones that it was chosen by, nor their references.

A proposer sees training questions with their answers and the titles of what they need. One that writes them into an
instruction has found nothing that helps on another question, and what it quotes would be published with the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from metrics.answers import normalise
from programs.workloads.query import Example

LEAST = 4
"""Letters and digits of an answer, title or id that are looked for: shorter ones ("two", "no") stand in any text."""
WORDS = frozenset({"none", "true", "false", "unanswerable", "unknown"})
"""Answers that are also plain words of instructions."""
QUESTION_WORDS = 4
"""Words of a question that is looked for."""


class QuotationCheck:
    """Finds questions, answers, titles and ids of development data in a text."""

    def __init__(self, examples: Iterable[Example], instructions: Iterable[str]) -> None:
        """Look for what is in these examples, save what the instructions to begin with already say."""
        said = [_spaced(text) for text in instructions]
        terms = dict.fromkeys(term for example in examples for term in _terms(example))
        self._terms = [term for term in terms if not any(term in text for text in said)]

    def find(self, text: str) -> str | None:
        """Give the first thing that a text quotes; None where it quotes nothing."""
        spaced = _spaced(text)
        found = next((term for term in self._terms if term in spaced), None)
        return found if found is None else found.strip()


def _terms(example: Example) -> Iterator[str]:
    """Give what must not be quoted, from word boundary to word boundary."""
    reference = example.reference
    titles = [passage.title for group in reference.passages for passage in group]
    for term in map(_spaced, (*reference.answers, *titles, *reference.supporting, reference.query_id)):
        if sum(map(str.isalnum, term)) >= LEAST and term.strip() not in WORDS:
            yield term
    question = _spaced(example.query.question)
    if len(question.split()) >= QUESTION_WORDS:
        yield question


def _spaced(text: str) -> str:
    return f" {normalise(text)} "
