"""Which questions stand and fall together: those over documents that others are asked of too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from programs.content_key import content_key
from programs.workloads.query import Example


def with_clusters(examples: Sequence[Example]) -> tuple[Example, ...]:
    """Give questions a cluster in common that share a document, or share one with others that do, and so on.

    A document is known by its text, so that the same one under two names is one. A question that shares nothing stays
    alone. A context of many passages is one document: where a few of them recur, the questions are still others.
    """
    from scipy.cluster.hierarchy import DisjointSet  # type: ignore[import-untyped]  # a third of a second

    sets = DisjointSet(range(len(examples)))
    first: dict[str, int] = {}
    texts: dict[str, list[str]] = {}
    for at, example in enumerate(examples):
        collection = example.query.collection
        if collection.digest not in texts:
            texts[collection.digest] = [content_key(source.text) for source in collection.documents]
        for text in texts[collection.digest]:
            sets.merge(at, first.setdefault(text, at))
    roots = [sets[at] for at in range(len(examples))]
    sizes = Counter(roots)
    names = {
        root: f"documents of {example.query.query_id}"
        for root, example in zip(roots[::-1], examples[::-1], strict=True)
    }
    return tuple(
        _in_cluster(example, names[root]) if sizes[root] > 1 else example
        for root, example in zip(roots, examples, strict=True)
    )


def _in_cluster(example: Example, cluster: str) -> Example:
    return Example(query=example.query, reference=example.reference.model_copy(update={"cluster": cluster}))
