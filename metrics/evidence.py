"""Evidence recall: how much of what an answer needs was admitted as evidence.

A passage of a long source counts as found by one of four rules: evidence lies in it (`passage_found`), its title line
was admitted (`title_recall`), at least half of its characters were (`passage_recall`), or its title is mentioned
(`title_mention`). Where evidence is cut to sentences, half of a passage is the wrong yardstick, and the first rule is
the one that treats all methods alike; that it lies there does not say that it is the right sentence, so
`answer_in_evidence` stands beside it.

A text that a model made counts by the regions that it names. In `passage_recall` it stands for as many characters of
them as it has itself, the same part of each: a summary of one passage can be half of it, and a report on a whole
collection, which names everything, is next to nothing of each passage. So no method is credited with more characters
than it hands over, whoever wrote them. In recall of sources it counts for the source that has most of what it names. A
title line it never shows, but it may mention the title. The rules that read the text count every record alike.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import pairwise

from metrics.answers import drop_articles, normalise, strip_punctuation
from metrics.record import Address, EvidenceRecord, GoldPassage

Evidence = Sequence[EvidenceRecord]
"""Evidence with its texts, in the reader's order."""

Located = Sequence[EvidenceRecord | Address]
"""Evidence of which only its addresses are asked for."""

Span = tuple[int, int]
"""Characters [start, end) of a source."""

Spans = Mapping[str, Sequence[Span]]
"""Spans by the id of their source."""

Told = tuple[int, int, float]
"""Characters [start, end) of a source, and the part of them that a text tells."""

ROUNDING = 1e-9
"""Of a character: parts of characters do not add up exactly."""

Passages = Sequence[Sequence[GoldPassage]]
"""For each supporting title, the passages that bear it: any will do, since a reference does not say which is meant.

A title that no passage bears has none, is never found, and stays in the denominator.
"""


def title_recall(evidence: Located, supporting: Passages) -> float:
    """Give the share of supporting titles with a passage whose whole title line the evidence covers."""
    spans = admitted_spans(evidence)
    return _recall(supporting, lambda passage: _has_title(spans, passage))


def passage_recall(evidence: Located, supporting: Passages) -> float:
    """Give the share of supporting titles with a passage of which the evidence covers at least half.

    Several records may cover a passage together. What a model made adds to what source text leaves uncovered.
    """
    spans = told_spans(evidence)
    return _recall(supporting, lambda passage: _has_half(spans, passage))


def passage_found(evidence: Located, supporting: Passages) -> float:
    """Give the share of supporting titles with a passage in which evidence lies, or of which it tells at least half.

    Evidence lies in a passage with at least half of its characters: a window across two passages lies in one of them.
    """
    spans, halves = admitted_spans(evidence), told_spans(evidence)
    return _recall(supporting, lambda passage: _has_record(spans, passage) or _has_half(halves, passage))


def title_mention(evidence: Evidence, supporting: Passages) -> float:
    """Give the share of supporting titles that occur in some evidence text, letter by letter, wherever they stand."""
    text = _all_texts(evidence)
    return _recall(supporting, lambda passage: bool(passage.title) and passage.title in text)


def answer_in_evidence(evidence: Evidence, references: Sequence[str]) -> float:
    """1 where some evidence text, normalised, holds some reference, normalised, from word boundary to word boundary.

    So "10" is not in "1910". What it can't tell is whether the text says so of the right thing: "no" is in most texts.
    """
    if not references:
        raise ValueError("a query without reference answers can't be scored")
    golds = [gold for gold in map(normalise, references) if gold]
    return float(_holds_any(strip_punctuation(_all_texts(evidence)), golds))


def source_recall(admitted: Collection[str], supporting: Collection[str]) -> float:
    """Give the share of supporting sources of which some evidence was admitted."""
    wanted = set(supporting)
    if not wanted:
        raise ValueError("recall is not defined without supporting sources")
    return len(wanted.intersection(admitted)) / len(wanted)


def recall_at(admitted: Sequence[str], supporting: Collection[str], k: int) -> float:
    """Give the share of supporting sources among the first k different ones, in evidence order."""
    return source_recall(list(dict.fromkeys(admitted))[:k], supporting)


def admitted_sources(evidence: Located) -> list[str]:
    """Give the sources of which evidence was admitted, each once, in evidence order."""
    sources = (item.source_id if _is_own_text(item) else most_named(item) for item in evidence)
    return list(dict.fromkeys(source for source in sources if source is not None))


def admitted_spans(evidence: Located) -> dict[str, list[Span]]:
    """Give the characters of each source whose own text was admitted."""
    spans: dict[str, list[Span]] = {}
    for item in filter(_is_own_text, evidence):
        spans.setdefault(item.source_id, []).append((item.start, item.end))
    return spans


def told_spans(evidence: Located) -> dict[str, list[Told]]:
    """Give the characters of each source that the evidence shows or tells of, and how much of them.

    Source text shows its characters whole. What a model made is spread evenly over the regions that it names.
    """
    spans: dict[str, list[Told]] = {}
    for item in evidence:
        regions, part = ([item], 1.0) if _is_own_text(item) else named(item)
        for region in regions:
            spans.setdefault(region.source_id, []).append((region.start, region.end, part))
    return spans


def named(item: EvidenceRecord | Address) -> tuple[Sequence[Address], float]:
    """Give the regions that a derived text names, and the part of them that it can tell at its length."""
    if isinstance(item, Address) or item.derived is None:
        return (), 0.0
    regions = item.derived.regions
    whole = sum(_length(region) for region in regions)
    return regions, min(1.0, len(item.text) / whole) if whole else 0.0


def most_named(item: EvidenceRecord | Address) -> str | None:
    """Give the source that has more than half of what a derived text names; one on many sources is about none."""
    named_of: Counter[str] = Counter()
    for region in named(item)[0]:
        named_of[region.source_id] += _length(region)
    return next((source for source, length in named_of.items() if 2 * length > named_of.total()), None)


def told(span: Span, spans: Sequence[Told]) -> float:
    """Add up how much of a span is shown or told, each character once at most."""
    start, end = span
    inside = [(max(start, first), min(end, last), part) for first, last, part in spans if first < end and last > start]

    def part_of(here: int) -> float:
        return min(1.0, math.fsum(part for first, last, part in inside if first <= here < last))

    places = sorted({place for first, last, _ in inside for place in (first, last)})
    return math.fsum((after - before) * part_of(before) for before, after in pairwise(places))


def covered(span: Span, admitted: Sequence[Span]) -> int:
    """Count the characters of a span that others cover, each once however often it was admitted."""
    start, end = span
    count, reached = 0, start
    for first, last in sorted(admitted):
        first, last = max(first, reached), min(last, end)
        if last > first:
            count, reached = count + last - first, last
    return count


def _is_own_text(item: EvidenceRecord | Address) -> bool:
    return isinstance(item, Address) or item.derived is None


def _length(region: Address) -> int:
    return max(0, region.end - region.start)


def _all_texts(evidence: Evidence) -> str:
    """Put the texts together for one search, with a mark between them that nothing searched for can bridge."""
    return "\n\x00\n".join(item.text for item in evidence)


def _recall(supporting: Passages, found: Callable[[GoldPassage], bool]) -> float:
    if not supporting:
        raise ValueError("recall is not defined without supporting passages")
    return sum(any(found(passage) for passage in group) for group in supporting) / len(supporting)


def _has_title(spans: Spans, passage: GoldPassage) -> bool:
    start, length = passage.start, len(passage.title)
    return 0 < length == covered((start, start + length), spans.get(passage.source_id, ()))


def _has_record(spans: Spans, passage: GoldPassage) -> bool:
    inside = (
        (start, end, min(end, passage.end) - max(start, passage.start))
        for start, end in spans.get(passage.source_id, ())
    )
    return any(0 < end - start <= 2 * shared for start, end, shared in inside)


def _has_half(spans: Mapping[str, Sequence[Told]], passage: GoldPassage) -> bool:
    length = passage.end - passage.start
    return 0 < length <= 2 * told((passage.start, passage.end), spans.get(passage.source_id, ())) + ROUNDING


def _holds_any(bare: str, golds: Sequence[str]) -> bool:
    """Tell whether texts without punctuation hold one of some normalised answers.

    Dropping the articles of a page costs more than all else here, and is left to the case that needs it: an answer
    of several words, which are all there but not one after another.
    """
    if any(_stands_in(bare, gold) for gold in golds):
        return True
    scattered = [gold for gold in golds if " " in gold and all(word in bare for word in gold.split())]
    return bool(scattered) and any(map(partial(_stands_in, drop_articles(bare)), scattered))


def _stands_in(text: str, gold: str) -> bool:
    """Tell whether a text holds another without cutting a word at either end."""
    at = text.find(gold)
    while at >= 0:
        end = at + len(gold)
        if not (_is_inside_word(text, at) or _is_inside_word(text, end)):
            return True
        at = text.find(gold, at + 1)
    return False


def _is_inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()
