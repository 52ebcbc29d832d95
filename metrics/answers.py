"""Answer quality: exact match, token F1 and containment accuracy, each the best over a query's references.

An empty prediction scores 0, and so does one of which normalisation leaves nothing ("The."). That is settled before
any comparison, because the empty string is inside every string.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Lowercase, delete ASCII punctuation, drop articles, collapse whitespace, in LongBench's order.

    Punctuation is deleted and not replaced by a space, and before articles: "the-end" becomes "theend".
    """
    bare = text.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(prediction: str, references: Sequence[str]) -> float:
    """1 where the prediction is a reference after normalisation."""
    return _best(prediction, references, lambda predicted, gold: float(predicted == gold))


def token_f1(prediction: str, references: Sequence[str]) -> float:
    """The harmonic mean of token precision and recall, counting a repeated token as often as it stands."""
    return _best(prediction, references, _f1)


def containment_accuracy(prediction: str, references: Sequence[str]) -> float:
    """1 where the prediction is inside a reference or a reference inside the prediction, as the paper defines it.

    Containment is of characters, not of words: "10" is inside "1910".
    """
    return _best(prediction, references, lambda predicted, gold: float(predicted in gold or gold in predicted))


def _best(prediction: str, references: Sequence[str], score: Callable[[str, str], float]) -> float:
    if not references:
        raise ValueError("a query without reference answers can't be scored")
    predicted = normalise(prediction)
    golds = [gold for gold in map(normalise, references) if gold]
    return max((score(predicted, gold) for gold in golds), default=0.0) if predicted else 0.0


def _f1(predicted: str, gold: str) -> float:
    tokens, wanted = predicted.split(), gold.split()
    overlap = (Counter(tokens) & Counter(wanted)).total()
    return 2 * overlap / (len(tokens) + len(wanted))
