"""DOSRAG: the most similar segments that fill the budget, read in the order of the document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from programs.methods.base import EvidenceProgram, QueryRun
from programs.methods.dosrag.settings import DosragSettings
from programs.methods.segments import SegmentIndex, segment_index
from programs.models.encoders.encoder import Encoder
from programs.state import EvidenceRecord
from programs.tam.segment import Segment


class DOSRAG(EvidenceProgram):
    """One retrieval pass and no model: similarity chooses, the source orders.

    Windows overlap, so taken windows that meet become one span of their source. The reader then sees no text twice,
    and the budget pays for none twice.
    """

    name = "dosrag"

    def index(self, run: QueryRun) -> SegmentIndex:
        """Cut the sources into the same segments as StateRAG's and encode them."""
        return segment_index(self, run)

    def select(self, run: QueryRun, index: SegmentIndex) -> Sequence[EvidenceRecord]:
        """Fill the budget by similarity, then restore the order of the sources."""
        texts = run.query.collection.texts
        nearest = (index.segments[i] for i in index.nearest(run.query.question, self.runtime.encoder))
        spans = fill(nearest, self._budget, self.runtime.encoder, texts)
        return [span.record() for span in in_source_order(spans, texts)]

    @property
    def _budget(self) -> int:
        """Tokens to fill. What the reader's budget would cut is the end of the document, so it is not exceeded."""
        most, wanted = self.settings.lifecycle.reader_budget, self.settings.of(DosragSettings).budget
        return most if wanted is None else min(wanted, most)


def fill(segments: Iterable[Segment], budget: int, encoder: Encoder, texts: Mapping[str, str]) -> list[Segment]:
    """Take what is new in each segment, in turn, until the budget is reached; the one that crosses it is cut to fit."""
    taken: list[Segment] = []
    left = budget
    for segment in segments:
        start, end = unseen(segment, taken)
        if start == end:
            continue
        spans = encoder.spans(texts[segment.source_id][start:end])
        if len(spans) > left:
            end = start + spans[left - 1][1]
        taken.append(Segment(segment.source_id, start, end, texts[segment.source_id][start:end]))
        left -= len(spans)
        if left <= 0:
            break
    return taken


def unseen(segment: Segment, taken: Iterable[Segment]) -> tuple[int, int]:
    """Give the characters of a window that no taken one has. Windows advance, so these are never in two pieces."""
    start, end = segment.start, segment.end
    for other in sorted((t for t in taken if t.source_id == segment.source_id), key=lambda t: t.start):
        if other.start <= start:
            start = max(start, other.end)
        else:
            end = min(end, other.start)
    return start, max(start, end)


def in_source_order(spans: Iterable[Segment], texts: Mapping[str, str]) -> list[Segment]:
    """Order spans by source and offset, and join those that meet."""
    position = {source_id: i for i, source_id in enumerate(texts)}
    joined: list[Segment] = []
    for span in sorted(spans, key=lambda s: (position[s.source_id], s.start)):
        last = joined[-1] if joined else None
        if last is not None and last.source_id == span.source_id and last.end == span.start:
            joined[-1] = Segment(last.source_id, last.start, span.end, last.text + span.text)
        else:
            joined.append(span)
    return joined
