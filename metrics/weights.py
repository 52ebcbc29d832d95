"""What a token of a model weighs in RET: the model's size over the reader's.

A token of the reader's own model weighs 1, whatever it was spent on. Of the paper's pair of models it takes the sizes
as the paper states them, 8 and 14, so that its own numbers come out; of all others, their parameter counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NOMINAL: Mapping[str, int] = MappingProxyType(
    {"qwen2.5-7b": 8, "qwen2.5-7b-instruct": 8, "qwen2.5-14b": 14, "qwen2.5-14b-instruct": 14}
)
"""The paper's models, by their names without the owner's, with its nominal sizes."""


def weight(model: str, parameters: int | None, reader: str, reader_parameters: int | None) -> float | None:
    """Weigh a token of a model against one of the reader; None where a size that it takes is not known."""
    if model == reader:
        return 1.0
    size, read = nominal(model), nominal(reader)
    if size is None or read is None:
        size, read = parameters, reader_parameters
    if size and read:
        return size / read
    return None


def nominal(model: str) -> int | None:
    """Give a model's size as the paper states it; None for any other model."""
    return NOMINAL.get(model.rpartition("/")[2].lower())
