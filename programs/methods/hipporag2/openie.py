"""Open information extraction: what each passage says, as triples of normalised phrases."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import dspy

from programs.methods.base import QueryRun
from programs.methods.hipporag2.settings import Hipporag2Settings
from programs.methods.prompt_room import head
from programs.models.encoders.encoder import Encoder

Triple = tuple[str, str, str]
"""Subject, relation, object."""

NO_ENTITIES = "none"


@dataclass(frozen=True)
class Extractor:
    """Names first, then triples that use them: two calls a passage. A completion that can't be read yields nothing."""

    find_entities: dspy.Module
    find_triples: dspy.Module
    encoder: Encoder
    settings: Hipporag2Settings

    def extract(self, run: QueryRun, texts: Sequence[str]) -> tuple[tuple[Triple, ...], ...]:
        """Give each passage's triples. A passage without readable names is still asked for its triples."""
        passages = [self._opening(text) for text in texts]
        named = self._ask(run, self.find_entities, "entities", [{"passage": passage} for passage in passages])
        names = [list_names(answer.found.named_entities if answer else ()) for answer in named]
        many = [{"passage": passage, "entities": some} for passage, some in zip(passages, names, strict=True)]
        found = self._ask(run, self.find_triples, "triples", many)
        return tuple(clean(answer.found.triples if answer else ()) for answer in found)

    def _ask(
        self, run: QueryRun, predictor: dspy.Module, role: str, many: Sequence[dict[str, str]]
    ) -> list[dspy.Prediction | None]:
        return run.ask_all(predictor, role, self.settings.extraction_tokens, many)

    def _opening(self, text: str) -> str:
        """Cut a passage so that the prompt and the longest answer fit a small context."""
        return head(text, self.settings.passage_tokens, self.encoder)


def list_names(names: Sequence[str]) -> str:
    """Write names in one line, each once."""
    return "; ".join(dict.fromkeys(name.strip() for name in names if name.strip())) or NO_ENTITIES


def clean(triples: Sequence[Sequence[str]]) -> tuple[Triple, ...]:
    """Normalise triples and give each once. One without a subject or an object connects nothing and is dropped."""
    normal = ((phrase(s), phrase(relation), phrase(o)) for s, relation, o in triples)
    return tuple(dict.fromkeys(triple for triple in normal if triple[0] and triple[2]))


def phrase(text: str) -> str:
    """Fold case and turn punctuation into space, so that spellings of a name are one node.

    The published code keeps ASCII letters alone, which would leave nothing of most scripts; here letters, marks and
    digits of every script stay.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = (character if unicodedata.category(character)[0] in "LMN" else " " for character in folded)
    return " ".join("".join(kept).split())
