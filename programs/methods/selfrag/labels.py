"""How probable each label is where a completion has one of them, read off the tokens that were likely there.

The original compares the probabilities of its reflection tokens at one place of a generation. A label in words begins
with a token too, and what the engine says of that token's place has the beginnings of the other labels in it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax  # type: ignore[import-untyped]

from programs.models.engines.wire import MOST_ALTERNATIVES

Label = str | int

ALTERNATIVES = {"logprobs": True, "top_logprobs": MOST_ALTERNATIVES}
"""What a call adds to its configuration, so that its prediction has the `logprobs` that are read here."""


def label_probabilities(logprobs: Mapping[str, Any] | None, key: str, labels: Sequence[Label]) -> list[float] | None:
    """Give each label's share of what all labels have at their place; None where the completion tells nothing of it.

    Tokens that begin no label count for nothing: they were likely to a model that no schema holds. A label that is
    not among the likely tokens is taken to be as probable as the last of them, which is the most that it can be.
    """
    place = _place((logprobs or {}).get("content") or (), key)
    if place is None:
        return None
    lead, likely = place
    found: defaultdict[Label, list[float]] = defaultdict(list)
    for text, logprob in likely.items():
        begun = [label for label in labels if _begins(text, lead, str(label))]
        if len(begun) == 1:
            found[begun[0]].append(logprob)
    if not found:
        return None
    least = min(likely.values())
    shares: list[float] = softmax([logsumexp(found[label]) if found[label] else least for label in labels]).tolist()
    return shares


def expected(logprobs: Mapping[str, Any] | None, key: str, said: Label, values: Mapping[Label, float]) -> float:
    """Give the value to be expected of a key's label; where nothing tells probabilities, that of the label said."""
    shares = label_probabilities(logprobs, key, list(values))
    return values[said] if shares is None else float(np.dot(shares, list(values.values())))


def _place(tokens: Sequence[Mapping[str, Any]], key: str) -> tuple[str, dict[str, float]] | None:
    """Find the token with which a key's value begins: what it holds before the value, and what was likely there.

    Within a text of the JSON quotation marks are escaped, so no draft can pass for a key.
    """
    written = "".join(token["token"] for token in tokens)
    found = re.search(rf'"{re.escape(key)}"\s*:\s*"?', written)
    if found is None:
        return None
    start = 0
    for token in tokens:
        end = start + len(token["token"])
        if found.end() < end:
            likely = {one["token"]: one["logprob"] for one in token["top_logprobs"]}
            return written[start : found.end()], likely | {token["token"]: token["logprob"]}
        start = end
    return None


def _begins(text: str, lead: str, label: str) -> bool:
    """Tell whether a token goes on with this label, or with as much of it as it holds."""
    whole = lead + label
    if len(text) <= len(whole):
        return len(text) > len(lead) and whole.startswith(text)
    return text.startswith(whole) and not text[len(whole)].isalnum()
