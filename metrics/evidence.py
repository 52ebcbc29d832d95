"""Evidence recall: how much of what an answer needs was admitted as evidence.

A passage of a long source counts as found by one of three rules: its title line was admitted (`title_recall`), at
least half of its characters were (`passage_recall`), or its title is mentioned (`title_mention`). The first two, and
recall of whole sources, go by addresses, so they count source text alone: a summary names the regions that it was
made from, but does not show them to the reader. The rules that read the text count every record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

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

    Several records may cover a passage together.
    """
    spans = admitted_spans(evidence)
    return _recall(supporting, lambda passage: _has_half(spans, passage))


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
    """Give the sources whose own text was admitted, each once, in evidence order."""
    return list(dict.fromkeys(item.source_id for item in _own_text(evidence)))


def admitted_spans(evidence: Located) -> dict[str, list[Span]]:
    """Give the characters of each source whose own text was admitted."""
    spans: dict[str, list[Span]] = {}
    for item in _own_text(evidence):
        spans.setdefault(item.source_id, []).append((item.start, item.end))
    return spans


def covered(span: Span, admitted: Sequence[Span]) -> int:
    """Count the characters of a span that others cover, each once however often it was admitted."""
    start, end = span
    count, reached = 0, start
    for first, last in sorted(admitted):
        first, last = max(first, reached), min(last, end)
        if last > first:
            count, reached = count + last - first, last
    return count


def _own_text(evidence: Located) -> list[EvidenceRecord | Address]:
    """Leave out what a model wrote."""
    return [item for item in evidence if isinstance(item, Address) or item.derived is None]


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


def _has_half(spans: Spans, passage: GoldPassage) -> bool:
    start, end = passage.start, passage.end
    return 0 < end - start <= 2 * covered((start, end), spans.get(passage.source_id, ()))


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
