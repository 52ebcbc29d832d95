"""MemoRAG Lite: gists of the whole collection are a memory, and what it recalls for a question guides retrieval.

The memory is text in the prompt, where the original keeps it as a prefilled cache of the model. A memory that does not
fit the model's context is condensed again by the step that made it; the original has no bound on it. Hits are admitted
by their rank among a clue's hits until the reader's budget is full, and only then put in source order, because the
original has no budget either and the first sources would fill it. A drafted answer is searched for and never shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import dspy
import numpy as np

from programs.admission import select_budget
from programs.methods.base import EvidenceProgram, QueryRun
from programs.methods.memorag.settings import MemoragSettings
from programs.methods.prompt_room import head, room
from programs.methods.raptor.leaves import sentence_segments
from programs.methods.segments import SegmentCodec, SegmentIndex
from programs.models.encoders.encoder import Encoder
from programs.state import EvidenceRecord
from programs.tam.segment import segment
from signatures.baselines.memorag import AskSurrogates, CondenseText, DraftAnswer, RecallClues

LIST_MARK = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):])\s+")
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Letters of scripts that put no space between words; each counts as one."""


@dataclass(frozen=True)
class Memorised:
    """What a collection's queries share: the chunks to retrieve from, and the gists."""

    chunks: SegmentIndex
    gists: str


class MemoRAG(EvidenceProgram):
    """Retrieves for what memory recalls, not for the question alone."""

    name = "memorag"

    def assemble(self) -> None:
        """Make the method's own parts."""
        self.condense = dspy.Predict(CondenseText)
        self.recall = dspy.Predict(RecallClues)
        self.rewrite = dspy.Predict(AskSurrogates)
        self.draft = dspy.Predict(DraftAnswer)

    def index(self, run: QueryRun) -> Memorised:
        """Cut the sources into chunks, and memorise them."""
        collection, encoder = run.query.collection, self.runtime.encoder

        def build() -> Memorised:
            segments = sentence_segments(collection, encoder, self.settings.of(MemoragSettings).chunk_tokens)
            return Memorised(SegmentIndex.of(segments, encoder), self._memorise(run))

        return self.indexes.get(collection.digest, run.query.position, build, MemoryCodec(SegmentCodec(collection)))

    def select(self, run: QueryRun, index: Memorised) -> Sequence[EvidenceRecord]:
        """Retrieve for each clue and for the question, admit the best hits, and put them in source order."""
        segments = index.chunks.segments
        if not segments:
            return []
        hits = self._hits([*self._clues(run, index.gists), run.query.question], index.chunks)
        place = {segments[hit].evidence_id: hit for hit in hits}
        budget = self.settings.lifecycle.reader_budget
        admitted = select_budget((segments[hit].record() for hit in hits), budget, self.runtime.encoder)
        return sorted(admitted, key=lambda record: place[record.evidence_id])

    def _hits(self, queries: Sequence[str], chunks: SegmentIndex) -> list[int]:
        """Give the chunks that any query hits: first hits before second ones, the more similar before the less."""
        similarity = self.runtime.encoder.encode_queries(queries) @ chunks.vectors.T
        order = np.argsort(-similarity, axis=1, kind="stable")[:, : self.settings.of(MemoragSettings).hits]
        ranked = sorted(
            (rank, -float(similarity[query, chunk]), chunk)
            for query, row in enumerate(order.tolist())
            for rank, chunk in enumerate(row)
        )
        return list(dict.fromkeys(chunk for _, _, chunk in ranked))

    def _clues(self, run: QueryRun, gists: str) -> list[str]:
        """Ask memory for statements, for questions, and if wanted for an answer. An empty memory recalls nothing."""
        if not gists:
            return []
        settings = self.settings.of(MemoragSettings)
        clues: list[str] = []
        for step, predictor in (("recall", self.recall), ("rewrite", self.rewrite)):
            clues += clue_lines(self._ask_memory(run, step, predictor, gists), settings.clue_words)
        if settings.draft:
            draft = self._ask_memory(run, "draft", self.draft, gists)
            clues += [draft] if draft else []
        return list(dict.fromkeys(clues))

    def _ask_memory(self, run: QueryRun, step: str, predictor: dspy.Predict, gists: str) -> str:
        tokens = self.settings.of(MemoragSettings).clue_tokens
        said = run.ask(predictor, step, tokens, memory=gists, question=run.query.question)
        return "" if said is None else str(next(iter(said.values())))

    def _memorise(self, run: QueryRun) -> str:
        """Condense the collection into gists, and gists into gists, until they fit a prompt."""
        settings, encoder = self.settings.of(MemoragSettings), self.runtime.encoder
        chunk = min(settings.gist_chunk_tokens, room(self.runtime, settings.gist_tokens))
        most = room(self.runtime, settings.clue_tokens)
        texts = [segment.text for segment in segment(run.query.collection, encoder, chunk, 0)]
        gists = self._gists(run, packed(texts, chunk, encoder))
        while (size := tokens_of(gists, encoder)) > most:
            shorter = self._gists(run, packed(gists, chunk, encoder))
            if not 0 < tokens_of(shorter, encoder) < size:
                break
            gists = shorter
        return head("\n".join(gists), most, self.runtime.encoder)

    def _gists(self, run: QueryRun, texts: Sequence[str]) -> list[str]:
        """Condense each text. One whose completion can't be read is not remembered."""
        answers = run.ask_all(
            self.condense,
            "gist",
            self.settings.of(MemoragSettings).gist_tokens,
            [{"text": text} for text in texts],
        )
        return [answer.gist for answer in answers if answer is not None and answer.gist]


def clue_lines(completion: str, words: int) -> list[str]:
    """Give the lines of a completion that have more words than this, without their list marks."""
    lines = (LIST_MARK.sub("", line).strip() for line in completion.splitlines())
    return [line for line in lines if max(len(line.split()), len(UNSPACED.findall(line))) > words]


def packed(texts: Iterable[str], most: int, encoder: Encoder) -> list[str]:
    """Join texts, in order, as long as they have at most so many tokens together."""
    packs: list[list[str]] = []
    left = 0
    for text in texts:
        size = len(encoder.spans(text))
        if not packs or size > left:
            packs.append([])
            left = most
        packs[-1].append(text)
        left -= size
    return ["\n\n".join(pack) for pack in packs]


def tokens_of(texts: Iterable[str], encoder: Encoder) -> int:
    """Count the tokens of texts together."""
    return sum(len(encoder.spans(text)) for text in texts)


@dataclass(frozen=True)
class MemoryCodec:
    """The chunks as other methods write them, and the gists as text."""

    chunks: SegmentCodec

    def save(self, index: Memorised, folder: Path) -> None:
        """Write the chunks' files and gists.txt."""
        self.chunks.save(index.chunks, folder)
        (folder / "gists.txt").write_bytes(index.gists.encode())

    def load(self, folder: Path) -> Memorised:
        """Read them again."""
        gists = (folder / "gists.txt").read_bytes().decode()
        return Memorised(self.chunks.load(folder), gists)
