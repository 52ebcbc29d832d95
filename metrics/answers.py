"""Answer quality: exact match, token F1, containment accuracy and ANLS, each the best over a query's references.

An empty prediction scores 0, and so does one of which normalisation leaves nothing ("The."). That is settled before
any comparison, because the empty string is inside every string.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence

from rapidfuzz.distance import Levenshtein

_ARTICLES = re.compile(r"\b(?:an?|the)\b")
_PUNCTUATION = string.punctuation.encode()

Fold = Callable[[str], str]
Score = Callable[[str, str], float]


def normalise(text: str) -> str:
    """Lowercase, delete ASCII punctuation, drop articles, collapse whitespace, in LongBench's order.

    Punctuation is deleted and not replaced by a space, and before articles: "the-end" becomes "theend".
    """
    return drop_articles(strip_punctuation(text))


def strip_punctuation(text: str) -> str:
    """Do the first half of `normalise`: lowercase, and delete ASCII punctuation.

    It goes by way of bytes because `str.translate` takes a millisecond on a page with one letter outside ASCII.
    """
    bare = text.lower().encode("utf-8", "surrogatepass").translate(None, _PUNCTUATION)
    return bare.decode("utf-8", "surrogatepass")


def drop_articles(bare: str) -> str:
    """Do the second half of `normalise`: drop articles, and collapse whitespace."""
    return " ".join(_ARTICLES.sub(" ", bare).split())


def collapse(text: str) -> str:
    """Lowercase and collapse whitespace, and nothing more, as DocVQA's evaluation does."""
    return " ".join(text.lower().split())


def exact_match(prediction: str, references: Sequence[str]) -> float:
    """1 where the prediction is a reference after normalisation."""
    return _best(_pairs(prediction, references, normalise), _equal)


def token_f1(prediction: str, references: Sequence[str]) -> float:
    """The harmonic mean of token precision and recall, counting a repeated token as often as it stands."""
    return _best(_pairs(prediction, references, normalise), _f1)


def containment_accuracy(prediction: str, references: Sequence[str]) -> float:
    """1 where the prediction is inside a reference or a reference inside the prediction, as the paper defines it.

    Containment is of characters, not of words: "10" is inside "1910".
    """
    return _best(_pairs(prediction, references, normalise), _contained)


def anls_paper(prediction: str, references: Sequence[str]) -> float:
    """ANLS as the paper has it: texts normalised like answers, and 0 from a normalised distance of 0.5 on."""
    return _best(_pairs(prediction, references, normalise), _anls_open)


def anls_standard(prediction: str, references: Sequence[str]) -> float:
    """ANLS as DocVQA's own evaluation has it: punctuation and articles count, and a similarity of 0.5 is kept.

    It departs from that evaluation in two things. An empty prediction scores 0 against an empty reference too. And
    the length divided by is that of the texts compared, not of the texts as given: else blanks would buy a score.
    """
    return _best(_pairs(prediction, references, collapse), _anls_closed)


def answer_scores(prediction: str, references: Sequence[str]) -> dict[str, float]:
    """Give all of them under their metrics' names. Each text is normalised once, which is most of the work."""
    pairs = _pairs(prediction, references, normalise)
    return {
        "em": _best(pairs, _equal),
        "f1": _best(pairs, _f1),
        "accuracy": _best(pairs, _contained),
        "anls": _best(pairs, _anls_open),
        "anls_standard": anls_standard(prediction, references),
    }


def _pairs(prediction: str, references: Sequence[str], fold: Fold) -> list[tuple[str, str]]:
    """Pair the prediction with each reference, leaving out what folding leaves empty on either side."""
    if not references:
        raise ValueError("a query without reference answers can't be scored")
    predicted = fold(prediction)
    return [(predicted, gold) for gold in map(fold, references) if gold] if predicted else []


def _best(pairs: Sequence[tuple[str, str]], score: Score) -> float:
    return max([score(predicted, gold) for predicted, gold in pairs], default=0.0)


def _equal(predicted: str, gold: str) -> float:
    return float(predicted == gold)


def _f1(predicted: str, gold: str) -> float:
    tokens, wanted = predicted.split(), gold.split()
    shared = set(tokens).intersection(wanted)
    overlap = sum(min(tokens.count(token), wanted.count(token)) for token in shared)
    return 2 * overlap / (len(tokens) + len(wanted))


def _contained(predicted: str, gold: str) -> float:
    return float(predicted in gold or gold in predicted)


def _anls_open(predicted: str, gold: str) -> float:
    distance, length = Levenshtein.distance(predicted, gold), max(len(predicted), len(gold))
    return 1 - distance / length if 2 * distance < length else 0.0


def _anls_closed(predicted: str, gold: str) -> float:
    distance, length = Levenshtein.distance(predicted, gold), max(len(predicted), len(gold))
    return 1 - distance / length if 2 * distance <= length else 0.0
