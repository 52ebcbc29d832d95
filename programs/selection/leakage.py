"""A locked selection at an evaluation: what runs must be what was locked, and must not have seen the queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from programs.errors import InputError
from programs.methods.registry import spec
from programs.selection.compiled import Compiled
from programs.selection.lock import Lock, read_lock
from programs.workloads.hashes import Met, hashed, letters, text_hash
from programs.workloads.manifest import SelectionEntry
from programs.workloads.query import Query

NAMED = 3
"""How many queries a refusal names."""

TELLING = 16
"""Letters from which a question counts as quoted wherever it stands; a shorter one must be a line of its own."""


@dataclass(frozen=True)
class Asked:
    """A question as it is looked for in prompts."""

    query_id: str
    hash: str
    letters: str

    def stands_in(self, text: str) -> bool:
        """Tell whether the letters of a text hold the question, if that is long enough not to be there by chance."""
        return len(self.letters) >= TELLING and self.letters in text


@dataclass(frozen=True)
class LockedSelection:
    """A lock and the programs that it froze, by method."""

    lock: Lock
    programs: Mapping[str, Compiled]

    def entry(self) -> SelectionEntry:
        """Give its place in a manifest."""
        return SelectionEntry(lock=self.lock.digest, development=self.lock.development)

    def admit(self, queries: Sequence[Query]) -> None:
        """Refuse questions that the selection saw, or whose sources it saw, or that its prompts quote."""
        asked = hashed(queries)
        refuse_met(self.lock.seen.met(asked), len(asked))
        questions = [Asked(query.query_id, text_hash(query.question), letters(query.question)) for query in queries]
        sources = frozenset[str]().union(*(query.sources for query in asked))
        for method, compiled in self.programs.items():
            refuse_quotes(method, compiled, questions, sources)


def open_selection(path: Path) -> LockedSelection:
    """Find the lock of a compiled file or of a folder of them, and check that nothing changed since."""
    folder = path if path.is_dir() else path.resolve().parent
    lock, files = read_lock(folder)
    return LockedSelection(lock, {file.compiled.method: file.compiled for file in files.values()})


def check_locked(used: Mapping[str, Compiled], selection: LockedSelection | None, queries: Sequence[Query]) -> None:
    """Let compiled programs answer evaluation questions only if they are a selection's that has not seen these."""
    if not used:
        return
    if selection is None:
        raise InputError(
            f"{', '.join(used)}: compiled, and an eval split takes only a locked selection; lock it first: "
            "python -m optimize.lock DIR, or run without it by --compiled none"
        )
    for method, compiled in used.items():
        if selection.programs.get(spec(method).compiled_as) != compiled:
            raise InputError(
                f"{method}: the compiled program is not in the lock; lock its folder again: python -m optimize.lock DIR"
            )
    selection.admit(queries)


def refuse_met(met: Met, total: int) -> None:
    """Say which questions, or else which sources, the selection was made on."""
    what, ids = ("", met.questions) if met.questions else ("the sources of ", met.sources)
    if ids:
        raise InputError(
            f"the selection saw {what}{len(ids)} of these {total} questions ({_few(ids)}), and nothing may be "
            "evaluated on what it was chosen by; evaluate it on others, or run without it by --compiled none"
        )


def refuse_quotes(method: str, compiled: Compiled, questions: Sequence[Asked], sources: frozenset[str]) -> None:
    """Say which questions or sources stand in a prompt, where no optimiser that saw development data puts them."""
    for name, prompt in compiled.prompts.items():
        texts = [prompt.instructions, *_texts(prompt.demos)]
        lines = {text_hash(line) for text in texts for line in (text, *text.splitlines()) if line.strip()}
        whole = "\n".join(map(letters, texts))
        quoted = [asked.query_id for asked in questions if asked.hash in lines or asked.stands_in(whole)]
        if quoted or not lines.isdisjoint(sources):
            what = f"the question of {_few(quoted)}" if quoted else "a source of these questions"
            raise InputError(
                f"{method}: the compiled prompt {name} quotes {what}, so it was not made from development data alone; "
                "compile it again, or run without it by --compiled none"
            )


def _texts(value: Any) -> Iterator[str]:
    """Give every text inside a value, however deep."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for item in value.values() for text in _texts(item))
    elif isinstance(value, Iterable):
        yield from (text for item in value for text in _texts(item))


def _few(ids: Sequence[str]) -> str:
    more = ", …" if len(ids) > NAMED else ""
    return ", ".join(ids[:NAMED]) + more
