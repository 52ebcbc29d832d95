"""What a selection saw, as hashes: enough to tell whether an evaluation's questions or sources were among it.

A text is hashed by its letters and digits alone, so that neither case nor a space makes it another one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, StringConstraints

from programs.content_key import content_key
from programs.documents.collection import Collection
from programs.frozen import Frozen
from programs.workloads.query import Query

OTHER = re.compile(r"[\W_]+")
ASCII_OTHER = bytes(code for code in range(128) if not chr(code).isalnum())


def letters(text: str) -> str:
    """Give a text's letters and digits, without case.

    Most of what goes is ASCII, and dropping that as bytes first makes a large corpus no wait.
    """
    if text.isascii():
        return text.encode().translate(None, ASCII_OTHER).lower().decode()
    folded = _nfkc(_nfkc(text).casefold()).encode("utf-8", "surrogatepass")
    return _nfkc(OTHER.sub("", folded.translate(None, ASCII_OTHER).decode("utf-8", "surrogatepass")))


def text_hash(text: str) -> str:
    """Name a text by its letters; one without any, by all of it."""
    return content_key(letters(text) or text)[:16]


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _in_order(value: Any) -> Any:
    if isinstance(value, str):
        value = value.split()
    if isinstance(value, list | tuple | set | frozenset) and all(isinstance(each, str) for each in value):
        return tuple(sorted(value))
    return value


Hashes = Annotated[
    tuple[Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")], ...],
    BeforeValidator(_in_order),
    PlainSerializer(" ".join, return_type=str, when_used="json"),
]
"""Sorted. In JSON they are one text: on lines of their own they would bury the rest of a file."""


@dataclass(frozen=True)
class HashedQuery:
    """A query by the hashes of its question and of its sources."""

    query_id: str
    question: str
    sources: frozenset[str]


@dataclass(frozen=True)
class Met:
    """Ids of the queries that a selection had seen, and of those whose sources it had."""

    questions: tuple[str, ...]
    sources: tuple[str, ...]


class SeenHashes(Frozen):
    """Hashes of every question that a selection was made on, one a query, and of every source of theirs, each once."""

    questions: Hashes = ()
    sources: Hashes = ()

    def merge(self, other: SeenHashes) -> SeenHashes:
        """Give what either saw. A question that two queries of one of them asked is still there twice."""
        questions = Counter(self.questions) | Counter(other.questions)
        return SeenHashes(questions=tuple(questions.elements()), sources=tuple({*self.sources, *other.sources}))

    def met(self, queries: Sequence[HashedQuery]) -> Met:
        """Find the queries that were seen, and those of which a source was."""
        questions, sources = frozenset(self.questions), frozenset(self.sources)
        return Met(
            tuple(query.query_id for query in queries if query.question in questions),
            tuple(query.query_id for query in queries if not sources.isdisjoint(query.sources)),
        )

    def meets(self, queries: Iterable[Query]) -> list[str]:
        """Name the queries that were seen or of which a source was, in their order."""
        asked = hashed(queries)
        met = self.met(asked)
        either = {*met.questions, *met.sources}
        return [query.query_id for query in asked if query.query_id in either]


def seen_of(queries: Iterable[Query]) -> SeenHashes:
    """Hash what a selection on these queries sees."""
    asked = hashed(queries)
    sources = frozenset[str]().union(*(query.sources for query in asked))
    return SeenHashes(questions=tuple(query.question for query in asked), sources=tuple(sources))


def hashed(queries: Iterable[Query]) -> list[HashedQuery]:
    """Hash queries, each collection once: a corpus has many questions and ten thousand sources."""
    known: dict[str, frozenset[str]] = {}
    made: list[HashedQuery] = []
    for query in queries:
        digest = query.collection.digest
        if digest not in known:
            known[digest] = _sources(query.collection)
        made.append(HashedQuery(query.query_id, text_hash(query.question), known[digest]))
    return made


def _sources(collection: Collection) -> frozenset[str]:
    """Leave blank sources out: they are alike, and there was nothing to see.

    Passages that were cut from one text count as that text. Those of an encyclopedia recur from row to row of a
    benchmark, in all of its splits; what no other split may have is the row.
    """
    return frozenset(text_hash(source.text) for source in collection.documents if source.text.strip())
