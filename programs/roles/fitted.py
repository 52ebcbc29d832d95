"""The fitted ranking: how likely a candidate is to be needed, by signs whose weights were fitted on training questions.

It looks twice. First at each candidate by itself, beside the query. Then at what leads to it from the best of the first
look: a heading that they name, rare names that they share, words of the query that the best leaves open. So a second
hop, which is often like nothing that was asked, is found by the text that names it. The weights belong to an encoder
and a cross-encoder; `python -m optimize.ranking` fits them and writes them into a preset.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from programs.documents.sections import heading_of
from programs.models.encoders.encoder import CrossEncoder, Encoder
from programs.settings import RankingSettings
from programs.tam.headings import Headings
from programs.tam.names import WORD, Links, name_links

Numbers = npt.NDArray[np.float64]

ALONE = ("cosine", "cosine_gap", "cosine_rank", "crossed_rank", "named", "heading", "words", "words_rank", "length")
"""Signs of a candidate by itself: its cosine with the query, also less the best one's and by rank; its place by the
cross-encoder; whether its heading stands in the query, the share of its heading's words that do; how many of the
query's words it has, by what they say, also by rank; and its length."""
LINKED = ("headed", "shared", "open", "beyond", "alike")
"""Signs of what leads to it: the best that name its heading; rare names that it shares with them; words of the query
that the best lacks, and its cosine with what the best leaves of the query; and its cosine with them."""
SIGNS = {"alone": ALONE, "linked": (*ALONE, *LINKED)}
SEEDS = 4
"""Best candidates whose links are followed."""
SMOOTHING = 4
"""What is added to a rank before it is inverted: small, since a list has tens of candidates and not thousands."""
LONG = 1000
"""Characters beyond which a text is as long as any."""
MOST_SHARED = 6.0
"""The weight of shared names beyond which more of them say no more."""
LITTLE = frozenset(
    WORD.findall(
        "the a an of in on at to for and or is was were are did do does who whom whose what which when where why how "
        "that this with by from as it its be has have had than then same also known"
    )
)
"""Words that say nothing of what a question is about."""


def by_weights(
    query: str, texts: Sequence[str], encoder: Encoder, scorer: CrossEncoder, fitted: RankingSettings
) -> Numbers:
    """Give each candidate's probability of being needed."""
    return weighed(Candidates.read(query, texts, encoder, scorer), fitted)


def weighed(candidates: Candidates, fitted: RankingSettings) -> Numbers:
    """Look twice at candidates that were read."""
    first = probability(candidates.alone, fitted.alone, ALONE)
    return probability(candidates.linked(first), fitted.linked, SIGNS["linked"])


def probability(signs: Numbers, weights: Mapping[str, float], names: Sequence[str]) -> Numbers:
    """Weigh signs, a row a candidate."""
    weighed = signs @ np.array([weights.get(name, 0.0) for name in names]) + weights.get("bias", 0.0)
    return np.asarray(1.0 / (1.0 + np.exp(-weighed)), dtype=np.float64)


@dataclass(frozen=True)
class Candidates:
    """What is known of some texts and a query before any weight is asked."""

    query: npt.NDArray[np.float32]
    vectors: npt.NDArray[np.float32]
    crossed: Numbers
    lengths: Numbers
    words: Sequence[set[str]]
    asked: Mapping[str, float]
    """The query's words, by how few of the texts have them."""
    headings: Headings
    heading_words: Sequence[tuple[str, ...]]
    named: frozenset[int]
    """The texts whose heading stands in the query."""
    shared: Sequence[Links]

    @classmethod
    def read(cls, query: str, texts: Sequence[str], encoder: Encoder, scorer: CrossEncoder) -> Candidates:
        """Look at the texts with both encoders."""
        headings, words = Headings(texts), [set(WORD.findall(text.lower())) for text in texts]
        counts = Counter(word for found in words for word in found)
        wanted = {word for word in WORD.findall(query.lower()) if word not in LITTLE}
        return cls(
            query=encoder.encode_queries([query])[0],
            vectors=encoder.encode_passages(texts),
            crossed=np.asarray(scorer.score(query, texts), dtype=np.float64),
            lengths=np.array([min(1.0, len(text) / LONG) for text in texts]),
            words=words,
            asked={word: math.log((len(texts) + 1) / (counts[word] + 0.5)) for word in sorted(wanted)},
            headings=headings,
            heading_words=[tuple(WORD.findall(heading_of(text).lower())) for text in texts],
            named=frozenset(headings.named_in(query)),
            shared=name_links(texts),
        )

    @cached_property
    def alone(self) -> Numbers:
        """Give the signs of each candidate by itself, a row each."""
        cosine = np.asarray(self.vectors @ self.query, dtype=np.float64)
        said = self._said(self.asked)
        signs = {
            "cosine": cosine,
            "cosine_gap": cosine - cosine.max(initial=-1.0),
            "cosine_rank": by_rank(cosine),
            "crossed_rank": by_rank(self.crossed),
            "named": np.array([float(place in self.named) for place in range(len(cosine))]),
            "heading": np.array([share_of(words, self.asked) for words in self.heading_words]),
            "words": said,
            "words_rank": by_rank(said),
            "length": self.lengths,
        }
        return np.stack([signs[name] for name in ALONE], axis=1)

    def linked(self, first: Numbers) -> Numbers:
        """Give all signs, those of what leads to each candidate from the best of the first look among them."""
        seeds = [int(place) for place in np.argsort(-first, kind="stable")[:SEEDS]]
        found = {name: np.zeros(len(first)) for name in LINKED}
        for seed in seeds:
            for place in self.headings.links[seed]:
                found["headed"][place] = max(found["headed"][place], first[seed])
            for place, weight in self.shared[seed].items():
                told = first[seed] * min(weight, MOST_SHARED) / MOST_SHARED
                found["shared"][place] = max(found["shared"][place], told)
        if seeds:
            self._left_open_by(seeds[0], found)
            found["alike"] = (self.vectors @ self.vectors[seeds].T * first[seeds]).max(axis=1)
        return np.concatenate([self.alone, np.stack([found[name] for name in LINKED], axis=1)], axis=1)

    def _left_open_by(self, best: int, found: dict[str, Numbers]) -> None:
        """Compare the others with what the best leaves of the query: words that it lacks, its remaining direction."""
        left = {word: weight for word, weight in self.asked.items() if word not in self.words[best]}
        found["open"] = self._said(left)
        rest = self.query - (self.query @ self.vectors[best]) * self.vectors[best]
        found["beyond"] = np.asarray(self.vectors @ (rest / (np.linalg.norm(rest) + 1e-9)), dtype=np.float64)
        found["open"][best] = found["beyond"][best] = 0.0

    def _said(self, wanted: Mapping[str, float]) -> Numbers:
        """Give the share of the query that each text says, of the words that are wanted."""
        whole = sum(self.asked.values()) or 1.0
        return (
            np.array([sum(weight for word, weight in wanted.items() if word in words) for words in self.words]) / whole
        )


def share_of(words: Sequence[str], asked: Mapping[str, float]) -> float:
    """Give the share of a heading's telling words that are asked for."""
    telling = [word for word in words if word not in LITTLE]
    return sum(word in asked for word in telling) / len(telling) if telling else 0.0


def by_rank(scores: Numbers) -> Numbers:
    """Give 1 for the best and less for each that follows, ties in the order that they came in."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    inverted: Numbers = SMOOTHING / (ranks + SMOOTHING)
    return inverted
