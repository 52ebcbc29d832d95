"""Names that regions share: a hop of a question goes from one text to another by a name that both of them bear.

Two texts about the same thing need not be alike ("the film was directed by …" and "… was born in Lyon"), so a group
by cosine does not hold them together; the director's name does. A name is told by its capitals, so in scripts that
have none there are no links, and a region is what it would be without them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

from programs.progress import counted

SPACE = r"[^\S\r\n]+"
"""What may stand between the words of a name: no line break, or a heading would run into the text below it."""
CAPITALISED = rf"[A-Z][\w'’-]*(?:{SPACE}[A-Z][\w'’-]*)*"
PARTICLE = rf"{SPACE}(?:of|the|and|de|la|le|du|del|di|da|von|van|al|bin|&){SPACE}"
NAME = re.compile(rf"\b{CAPITALISED}(?:{PARTICLE}{CAPITALISED})*")
WORD = re.compile(r"\w+")
SHORTEST = 4
"""Characters of a name: shorter ones are mostly initials and the openings of sentences."""
SHARE = 0.06
"""Part of all regions that may bear a name before it says nothing."""
FEWEST, MOST = 3, 24
"""Bounds on that number of regions, for collections of a few regions and of very many."""

Links = dict[int, float]
"""The texts that share rare names with one, and how much that says."""
ROWS = 2048
"""Texts whose links are found at once: those of all the regions of a large text would take gigabytes."""


def names(text: str) -> set[str]:
    """Give the capitalised phrases of a text; of one with particles, such as "Duke of Sarn", also the parts."""
    phrases = [match.group() for match in NAME.finditer(text)]
    parts = [part for phrase in phrases for part in re.split(PARTICLE, phrase)]
    found = (" ".join(name.split()).strip("'’-") for name in [*phrases, *parts])
    return {name for name in found if len(name) >= SHORTEST}


def name_links(texts: Sequence[str]) -> list[Links]:
    """Link texts by the rare names that they share; a rarer and a longer name weighs more."""
    return list(each_links(texts))


def each_links(texts: Sequence[str]) -> Iterator[Links]:
    """Give the links of each text in turn."""
    borne = [sorted(names(text)) for text in (counted("names", texts) if len(texts) > ROWS else texts)]
    common = words_in_small_letters(texts)
    counts = Counter(name for found in borne for name in found)
    rare = rarest(len(texts))
    kept = sorted(name for name, count in counts.items() if 2 <= count <= rare and name.lower() not in common)
    if not kept:
        yield from ({} for _ in texts)
        return
    column = {name: i for i, name in enumerate(kept)}
    weights = np.sqrt([weight(name, len(texts) / counts[name]) for name in kept])
    found_in = [[column[name] for name in found if name in column] for found in borne]
    del borne, counts
    rows = np.repeat(np.arange(len(texts)), [len(found) for found in found_in])
    columns = np.fromiter(chain.from_iterable(found_in), np.int64, len(rows))
    bears = csr_matrix((weights[columns], (rows, columns)), shape=(len(texts), len(kept)))
    borne_by = csr_matrix(bears.T)
    for start in range(0, len(texts), ROWS):
        together = csr_matrix(bears[start : start + ROWS] @ borne_by)
        together.eliminate_zeros()
        together.sort_indices()
        for row, (begin, end) in enumerate(pairwise(together.indptr.tolist()), start=start):
            links = zip(together.indices[begin:end].tolist(), together.data[begin:end].tolist(), strict=True)
            yield {place: weight for place, weight in links if place != row}


def rarest(texts: int) -> int:
    """Give how many of some texts may bear a name before it says nothing."""
    return min(max(FEWEST, int(SHARE * texts)), MOST)


def weight(name: str, rarity: float) -> float:
    """Weigh a name by its rarity; one of several words is less often a coincidence."""
    return float(np.log(rarity) * np.sqrt(len(name.split())))


def words_in_small_letters(texts: Sequence[str]) -> set[str]:
    """Give the words that also occur without a capital: at the start of a sentence they are no names."""
    return {word for text in texts for word in WORD.findall(text) if word.islower()}
