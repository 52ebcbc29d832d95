"""Whether an answer stands on its evidence, and the sentences that it rests on.

It is told after the reader is done, from the question, the answer and the admitted evidence alone: how much the
evidence bears on the question, whether a sentence of it holds the answer, and which names of the question stand nowhere
in it. No language model is asked. The weights of these signs belong to a reader and a cross-encoder, and are fitted on
development questions with and without what their answers need (`python -m optimize.support`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from metrics.answers import normalise
from metrics.record import EvidenceRecord, Quote, Support, SupportStatus
from programs.documents.sections import heading_of
from programs.documents.sentences import sentence_ends
from programs.models.encoders.encoder import CrossEncoder
from programs.settings import SupportSettings
from programs.tam.names import WORD, names

SIGNS = ("sentence", "stated", "holding", "holds", "names", "words")
"""What is looked at: how much the best sentence bears on the question, on question and answer together, and the best of
those that hold the answer on the question; whether the answer stands in the evidence, or is a plain yes or no; and the
shares of the words of the question's names, and of all its words, that stand there."""
SHOWN = 3
"""Sentences that an answer is said to rest on, at most."""
PLAIN = ("yes", "no")
ASKING = re.compile(
    r"^(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|in|"
    r"on|at|of|for|from|the|a|an)\b\s*",
    re.IGNORECASE,
)
LEAST = 1e-4
"""The score below which, and above the like of which, a cross-encoder's scores are not told apart."""
LONG = 4
"""Letters of a word that says what a question is about; shorter ones mostly join others."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of an evidence record, by its place in the record's source."""

    record: EvidenceRecord
    start: int
    end: int
    heading: str

    @property
    def text(self) -> str:
        """Its characters."""
        return self.record.text[self.start - self.record.start : self.end - self.record.start]

    @property
    def told(self) -> str:
        """What the cross-encoder reads: a sentence by itself often does not say whom it speaks of."""
        return f"{self.heading}: {self.text}" if self.heading and self.heading not in self.text else self.text


@dataclass(frozen=True)
class Reading:
    """Everything that a judgement rests on."""

    sentences: tuple[Sentence, ...]
    relevance: tuple[float, ...]
    holding: tuple[bool, ...]
    """Of each sentence, whether it holds the answer."""
    signs: dict[str, float]
    missing: tuple[str, ...]


def judge(
    question: str,
    answer: str,
    evidence: Sequence[EvidenceRecord],
    scorer: CrossEncoder,
    settings: SupportSettings,
    cited: Sequence[str] = (),
) -> Support:
    """Say whether the evidence answers the question and holds the answer, and where.

    `cited` names the evidence that the reader says its answer rests on. What it says changes no status: it is quoted
    first, and where it does not hold the answer, that is told.
    """
    found = read(question, answer, evidence, scorer)
    named = tuple(sentence.record.evidence_id in cited for sentence in found.sentences)
    held = any(holds and its for holds, its in zip(found.holding, named, strict=True))
    weighed = settings.bias + sum(settings.weights.get(name, 0.0) * value for name, value in found.signs.items())
    probability = 1.0 / (1.0 + math.exp(-weighed))
    if probability < settings.threshold or not normalise(answer):
        status = SupportStatus.NOT_FOUND
    elif any(found.holding) or (normalise(answer) in PLAIN and not found.missing):
        status = SupportStatus.SUPPORTED
    else:
        status = SupportStatus.UNSUPPORTED
    return Support(
        status=status,
        probability=round(probability, 4),
        quotes=_quotes(found, status, named),
        missing=found.missing,
        cited=held if cited and normalise(answer) not in ("", *PLAIN) else None,
    )


def read(question: str, answer: str, evidence: Sequence[EvidenceRecord], scorer: CrossEncoder) -> Reading:
    """Look for the signs. Texts that a model wrote are not source text, and hold nothing up."""
    own = [record for record in evidence if record.derived is None]
    headings = {record.home: heading_of(record.text) for record in reversed(own)}  # of a region, its first part has it
    sentences = tuple(sentence for record in own for sentence in sentences_of(record, headings[record.home]))
    told = [sentence.told for sentence in sentences]
    scores = scorer.score(question, told) if sentences else np.zeros(0)
    stated = scorer.score(f"{question} {answer}", told) if sentences and answer else np.zeros(0)
    wanted = f" {normalise(answer)} "
    plain = wanted.strip() in PLAIN
    holding = tuple(not plain and bool(wanted.strip()) and wanted in f" {normalise(s.text)} " for s in sentences)
    said = set(WORD.findall("\n".join(record.text for record in own).lower()))
    asked = names_of(question)
    missing = tuple(name for name in asked if not said.issuperset(WORD.findall(name.lower())))
    signs = {
        "sentence": told_apart(scores.max(initial=0.0)),
        "stated": told_apart(stated.max(initial=0.0)),
        "holding": told_apart(max((score for score, it in zip(scores, holding, strict=True) if it), default=0.0)),
        "holds": float(plain or any(holding)),
        "names": share([word for name in asked for word in WORD.findall(name.lower())], said),
        "words": share([w for w in WORD.findall(ASKING.sub("", question).lower()) if len(w) >= LONG], said),
    }
    return Reading(sentences, tuple(map(float, scores)), holding, signs, missing)


def told_apart(score: float) -> float:
    """Spread a cross-encoder's score: they crowd at both ends, and as log-odds 0.9 is told from 0.999. From 0 to 1."""
    odds = math.log(max(score, LEAST) / max(1.0 - score, LEAST))
    return min(1.0, max(0.0, (odds / -math.log(LEAST) + 1.0) / 2.0))


def share(words: Sequence[str], said: set[str]) -> float:
    """The share of words that are said; where nothing is asked for, nothing is missing."""
    return sum(word in said for word in words) / len(words) if words else 1.0


def names_of(question: str) -> list[str]:
    """Give the names that a question has; the word that it opens with is none."""
    return sorted(names(ASKING.sub("", question)))


def sentences_of(record: EvidenceRecord, heading: str) -> list[Sentence]:
    """Give the sentences of a record by their place in its source; a line without a word is none."""
    found = []
    for start, end in pairwise([0, *sentence_ends(record.text), len(record.text)]):
        text = record.text[start:end]
        if WORD.search(text):
            left = start + len(text) - len(text.lstrip())
            found.append(Sentence(record, record.start + left, record.start + start + len(text.rstrip()), heading))
    return found


def _quotes(found: Reading, status: SupportStatus, named: Sequence[bool]) -> tuple[Quote, ...]:
    """Take the sentences that hold the answer and those that bear most on the question; without a find, the nearest.

    Of those that hold it, the ones that the reader named come first.
    """
    order = sorted(range(len(found.sentences)), key=lambda i: (-found.relevance[i], i))
    if status is SupportStatus.NOT_FOUND:
        nearest = {found.sentences[i].record.evidence_id: i for i in reversed(order)}
        chosen = sorted(nearest.values(), key=order.index)[:SHOWN]
    else:
        holding = sorted((i for i in order if found.holding[i]), key=lambda i: not named[i])[: SHOWN - 1]
        chosen = [*holding, *(i for i in order if i not in holding)][:SHOWN]
    return tuple(
        Quote(
            evidence_id=sentence.record.evidence_id,
            source_id=sentence.record.source_id,
            start=sentence.start,
            end=sentence.end,
            relevance=round(found.relevance[i], 4),
        )
        for i in chosen
        for sentence in (found.sentences[i],)
    )
