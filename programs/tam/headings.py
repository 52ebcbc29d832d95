"""Texts that name what other texts are headed: a name leads to the text that it is the heading of.

"The film was directed by Ysolde Marrane" and a section headed "Ysolde Marrane" are a hop, whatever else they say.
Unlike a name that two texts share, it has a direction, and it says which of all texts with that name is about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from programs.documents.sections import heading_of
from programs.tam.names import SHORTEST, WORD, rarest

Words = tuple[str, ...]


class Headings:
    """The headings of some texts, to be looked up in any text."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._headed: dict[Words, list[int]] = {}
        for place, text in enumerate(texts):
            heading = heading_of(text)
            if len(heading) >= SHORTEST and (words := _words(heading)):
                self._headed.setdefault(words, []).append(place)
        self._openings: dict[str, set[int]] = {}
        for words in self._headed:
            self._openings.setdefault(words[0], set()).add(len(words))

    def named_in(self, text: str) -> set[int]:
        """Give the places of the texts whose heading stands in a text, whatever its capitals."""
        return {place for words in self._standing_in(text) for place in self._headed[words]}

    @cached_property
    def links(self) -> list[set[int]]:
        """For each text, the texts that are headed by what it names; a heading that many texts name says nothing."""
        found = [self._standing_in(text) for text in self._texts]
        counts = Counter(words for standing in found for words in standing)
        most = rarest(len(self._texts))
        rare = [{words for words in standing if counts[words] <= most} for standing in found]
        return [
            {place for words in standing if here not in self._headed[words] for place in self._headed[words]}
            for here, standing in enumerate(rare)
        ]

    def _standing_in(self, text: str) -> set[Words]:
        words = _words(text)
        return {
            run
            for at, word in enumerate(words)
            for length in self._openings.get(word, ())
            if (run := words[at : at + length]) in self._headed
        }


def _words(text: str) -> Words:
    return tuple(WORD.findall(text.lower()))
