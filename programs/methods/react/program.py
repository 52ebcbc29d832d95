"""ReAct: thoughts, actions and observations in turn; the evidence is what the actions found.

One call a step: the published loop asks again for an action that it can't read, here such a step is spent. The answer
that ends a trajectory is thrown away, since the shared reader answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import dspy
import numpy as np

from programs.documents.sentences import sentences_of
from programs.methods.base import EvidenceProgram, QueryRun
from programs.methods.react.demonstrations import DEMONSTRATIONS
from programs.methods.react.settings import ReactSettings
from programs.methods.react.trajectory import NONE_YET, latest, rendered
from programs.methods.segments import SegmentIndex, segment_index
from programs.models.encoders.encoder import Encoder
from programs.models.plain_text import ITEM_NUMBERS, numbered_items
from programs.state import EvidenceRecord
from programs.tam.segment import Segment
from signatures.baselines.react import Step, TakeStep

UNREADABLE = "Invalid action."


class ReAct(EvidenceProgram):
    """Up to seven steps over the same segments as StateRAG's."""

    name = "react"

    def assemble(self) -> None:
        """Make the method's own parts."""
        self.act = dspy.Predict(TakeStep)
        self.act.demos = list(DEMONSTRATIONS)

    def index(self, run: QueryRun) -> SegmentIndex:
        """Cut the sources into the same segments as StateRAG's and encode them."""
        return segment_index(self, run)

    def select(self, run: QueryRun, index: SegmentIndex) -> Sequence[EvidenceRecord]:
        """Walk the trajectory and give the segments that it found, in the order in which it found them.

        One that found nothing searches for the question itself: the original could still answer from what its model
        knows, the shared reader can't.
        """
        if not index.segments:
            return []
        settings = self.settings.of(ReactSettings)
        library = Library(index, self.runtime.encoder, settings.hits, settings.sentences)
        self._walk(run, library)
        if not library.found:
            library.search(run.query.question)
        return [segment.record() for segment in library.found]

    def _walk(self, run: QueryRun, library: Library) -> None:
        settings, trajectory = self.settings.of(ReactSettings), list[str]()
        for number in range(1, settings.steps + 1):
            prediction = run.ask(
                self.act,
                "act",
                settings.step_tokens,
                question=run.query.question,
                trajectory=latest(trajectory, settings.trajectory_tokens, self.runtime.encoder) or NONE_YET,
            )
            step: Step | None = None if prediction is None else prediction.step
            if step is not None and step.action == "finish":
                return
            # An unreadable step is shown too: the same prompt would only get the same completion again.
            trajectory.append(rendered(number, step, UNREADABLE if step is None else library.observe(step)))


class Library:
    """What the actions act on: the segments, those found so far, and where a lookup has got to."""

    def __init__(self, index: SegmentIndex, encoder: Encoder, hits: int, sentences: int) -> None:
        self.found: list[Segment] = []
        self._index = index
        self._encoder = encoder
        self._hits = hits
        self._sentences = sentences
        self._open: list[Segment] = []
        self._keyword = ""
        self._results: list[str] = []
        self._next = 0

    def observe(self, step: Step) -> str:
        """Carry out a search or a lookup."""
        return self.search(step.argument) if step.action == "search" else self.lookup(step.argument)

    def search(self, phrase: str) -> str:
        """Open the segments nearest to a phrase and show some sentences of each."""
        order = self._index.nearest(phrase, self._encoder)[: self._hits]
        self._open = [self._index.segments[i] for i in order]
        self._keyword = ""
        self.found.extend(segment for segment in self._open if segment not in self.found)
        return numbered_items((self._excerpt(phrase, segment) for segment in self._open), between="\n")

    def lookup(self, keyword: str) -> str:
        """Show the next sentence of the open segments that has a keyword; the same keyword again moves on."""
        if keyword != self._keyword:
            self._keyword, self._next = keyword, 0
            each = dict.fromkeys(sentence for segment in self._open for sentence in sentences_of(segment.text))
            self._results = [sentence for sentence in each if keyword.casefold() in sentence.casefold()]
        if self._next >= len(self._results):
            return "No more results."
        self._next += 1
        sentence = ITEM_NUMBERS.break_up(self._results[self._next - 1])
        return f"(Result {self._next} / {len(self._results)}) {sentence}"

    def _excerpt(self, phrase: str, segment: Segment) -> str:
        """Show the sentences nearest to the phrase. A page opens with what it is about; a window of text need not."""
        sentences = sentences_of(segment.text)
        first = 0
        if len(sentences) > self._sentences:
            vectors = self._encoder.encode_passages(sentences)
            similarity = vectors @ self._encoder.encode_queries([phrase])[0]
            first = int(np.argmax(np.convolve(similarity, np.ones(self._sentences), "valid")))
        return " ".join(sentences[first : first + self._sentences])
