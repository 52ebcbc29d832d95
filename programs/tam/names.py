"""Names that regions share: a hop of a question goes from one text to another by a name that both of them bear.

Two texts about the same thing need not be alike ("the film was directed by …" and "… was born in Lyon"), so a group
by cosine does not hold them together; the director's name does. A name is told by its capitals, so in scripts that
have none there are no links, and a region is what it would be without them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

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

Links = list[dict[int, float]]
"""For each text, the texts that share rare names with it, and how much that says."""


def names(text: str) -> set[str]:
    """Give the capitalised phrases of a text; of one with particles, such as "Duke of Sarn", also the parts."""
    phrases = [match.group() for match in NAME.finditer(text)]
    parts = [part for phrase in phrases for part in re.split(PARTICLE, phrase)]
    found = (" ".join(name.split()).strip("'’-") for name in [*phrases, *parts])
    return {name for name in found if len(name) >= SHORTEST}


def name_links(texts: Sequence[str]) -> Links:
    """Link texts by the rare names that they share; a rarer and a longer name weighs more."""
    borne = [names(text) for text in texts]
    common = words_in_small_letters(texts)
    counts = Counter(name for found in borne for name in found)
    rare = rarest(len(texts))
    kept = sorted(name for name, count in counts.items() if 2 <= count <= rare and name.lower() not in common)
    if not kept:
        return [{} for _ in texts]
    column = {name: i for i, name in enumerate(kept)}
    weights = np.sqrt([weight(name, len(texts) / counts[name]) for name in kept])
    cells = [(row, column[name]) for row, found in enumerate(borne) for name in sorted(found) if name in column]
    rows, columns = np.array(cells).T
    bears = csr_matrix((weights[columns], (rows, columns)), shape=(len(texts), len(kept)))
    together = csr_matrix(bears @ bears.T)
    together.setdiag(0.0)
    together.eliminate_zeros()
    together.sort_indices()
    return [dict(zip(together[i].indices.tolist(), together[i].data.tolist(), strict=True)) for i in range(len(texts))]


def rarest(texts: int) -> int:
    """Give how many of some texts may bear a name before it says nothing."""
    return min(max(FEWEST, int(SHARE * texts)), MOST)


def weight(name: str, rarity: float) -> float:
    """Weigh a name by its rarity; one of several words is less often a coincidence."""
    return float(np.log(rarity) * np.sqrt(len(name.split())))


def words_in_small_letters(texts: Sequence[str]) -> set[str]:
    """Give the words that also occur without a capital: at the start of a sentence they are no names."""
    return {word for text in texts for word in WORD.findall(text) if word.islower()}
