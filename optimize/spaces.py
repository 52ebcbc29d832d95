"""What a search varies for each method. Adding a parameter is adding a line.

Values are near the published ones, within what the reader's budget and a laptop allow. What is not marked `online` is
taken to change the index, which is always right and at worst slow; `tests/optimize/test_spaces.py` checks the marks.
"""

from __future__ import annotations

from collections.abc import Collection

from optimize.space import Choice, Filling, Near, Parameter, Real, Space, Whole
from programs.errors import InputError
from programs.methods.registry import METHODS
from programs.settings import Settings
from signatures.baselines.hipporag2 import MOST_FACTS

YES_NO = (False, True)
FULL = 2.5
"""How often the reader's budget may be filled by records that are as long as they may be: where a region ends with its
section it is about half as long."""


def has_cross_encoder(settings: Settings) -> bool:
    """Tell whether pairs can be scored."""
    return settings.cross_encoder.engine != "none"


def scores_by_embedding(settings: Settings) -> bool:
    """Tell whether traces are scored by embedding, beside which a cross-encoder may have a weight."""
    return has_cross_encoder(settings) and "embedding" in settings.navigation.scorer


def ranks_by_score(settings: Settings) -> bool:
    """Tell whether the Retriever ranks by scores, and not by asking a model."""
    return settings.retriever.ranker != "model"


def ranks_by_encoders(settings: Settings) -> bool:
    """Tell whether the Retriever may rank by either encoder."""
    return has_cross_encoder(settings) and ranks_by_score(settings)


def regions(index_calls: bool = False) -> tuple[Parameter, ...]:
    """Vary the windows that sources are cut into."""
    return (
        Choice("tam.region_tokens", (96, 128, 192, 256, 384), index_calls=index_calls),
        Choice("tam.overlap_tokens", (0, 32, 64), index_calls=index_calls),
        Choice("tam.boundaries", ("tokens", "sentences"), index_calls=index_calls),
    )


SPACES: dict[str, tuple[Parameter, ...]] = {
    "staterag": (
        *regions(index_calls=True),
        Near("encoder.relation_threshold", 0.10, index_calls=True),
        Near("encoder.topic_threshold", 0.12, index_calls=True),
        Whole("tam.region_size", 4, 16),
        Choice("tam.region_rule", ("siblings", "names")),
        Choice("navigation.paths", ("one", "target", "plan"), online=True),
        Choice("navigation.chain", YES_NO, online=True),
        Choice("navigation.reading", ("abstraction", "evidence"), online=True),
        Whole("navigation.traces", 1, 8, online=True),
        Whole("navigation.branch", 1, 4, online=True),
        Whole("navigation.beam", 2, 8, online=True),
        Choice("navigation.candidates", (32, 64, 96)),
        Choice("navigation.scorer.cross-encoder", (0, 0.05, 0.1, 0.2, 0.5, 1), online=True, when=scores_by_embedding),
        Choice("retriever.ranker", ("cross-encoder", "embedding", "fusion"), online=True, when=ranks_by_encoders),
        Whole("retriever.rerank", 10, 60, online=True),
        Choice("retriever.terminals", YES_NO, online=True, when=ranks_by_score),
        Real("retriever.minimum", 0.0, 0.5, online=True, when=ranks_by_score),
        Filling("lifecycle.keep_first", 0.25, FULL, online=True),
        Filling("lifecycle.keep_revised", 0.25, FULL, online=True),
        Choice("lifecycle.carry", YES_NO, online=True),
        Whole("lifecycle.cycles", 1, 3, online=True),
        Choice("verifier.rule", ("coverage", "model", "both"), online=True, when=has_cross_encoder),
        Choice("verifier.wants", ("targets", "query", "all", "query-first"), online=True, when=has_cross_encoder),
        Real("verifier.threshold", 0.05, 0.99, online=True, when=has_cross_encoder),
    ),
    "vanilla": (*regions(), Filling("vanilla.k", 0.25, FULL, online=True)),
    "vanilla-rerank": (
        *regions(),
        Whole("vanilla_rerank.candidates", 10, 60, online=True),
        Filling("vanilla_rerank.k", 0.25, FULL, online=True),
    ),
    "dosrag": (*regions(), Choice("dosrag.budget", (None, 512, 1024, 1536), online=True)),
    "react": (
        *regions(),
        Whole("react.steps", 3, 9, online=True),
        Whole("react.hits", 1, 6, online=True),
        Whole("react.sentences", 2, 8, online=True),
    ),
    "selfrag": (
        *regions(),
        Choice("selfrag.mode", ("adaptive", "always"), online=True),
        Real("selfrag.threshold", 0.0, 0.6, online=True),
        Whole("selfrag.passages", 5, 20, online=True),
        Filling("selfrag.keep", 0.25, FULL, online=True),
        Real("selfrag.relevance_weight", 0.0, 2.0, digits=1, online=True),
        Real("selfrag.support_weight", 0.0, 2.0, digits=1, online=True),
        Real("selfrag.utility_weight", 0.0, 2.0, digits=1, online=True),
    ),
    "raptor": (
        Choice("raptor.leaf_tokens", (64, 100, 150, 200), index_calls=True),
        Whole("raptor.layers", 1, 5, index_calls=True),
        Real("raptor.threshold", 0.05, 0.5, index_calls=True),
        Whole("raptor.top_k", 5, 40, online=True),
        Choice("raptor.max_tokens", (500, 1000, 1500, 2000), online=True),
    ),
    "graphrag": (
        Choice("graphrag.chunk_tokens", (300, 600, 900, 1200), index_calls=True),
        Choice("graphrag.chunk_overlap", (0, 50, 100), index_calls=True),
        Whole("graphrag.gleanings", 0, 1, index_calls=True),
        Whole("graphrag.cluster_size", 5, 20, index_calls=True),
        Whole("graphrag.top_entities", 4, 20, online=True),
        Whole("graphrag.top_relationships", 2, 20, online=True),
        Whole("graphrag.community_level", 0, 3, online=True),
        Real("graphrag.text_unit_share", 0.3, 0.8, online=True),
        Real("graphrag.community_share", 0.0, 0.2, online=True),
        Real("graphrag.entity_share", 0.2, 0.8, online=True),
    ),
    "memorag": (
        Choice("memorag.gist_chunk_tokens", (1024, 2048, 4096), index_calls=True),
        Choice("memorag.gist_tokens", (128, 256, 512), index_calls=True),
        Choice("memorag.chunk_tokens", (128, 256, 384, 512)),
        Whole("memorag.hits", 1, 8, online=True),
        Choice("memorag.draft", YES_NO, online=True),
        Whole("memorag.clue_words", 0, 6, online=True),
    ),
    "hipporag2": (
        *regions(index_calls=True),
        Real("hipporag2.synonymy_threshold", 0.7, 0.95),
        Whole("hipporag2.linking_top_k", 3, MOST_FACTS, online=True),
        Real("hipporag2.damping", 0.2, 0.8, online=True),
        Real("hipporag2.passage_node_weight", 0.01, 0.5, log=True, digits=3, online=True),
        Filling("hipporag2.qa_top_k", 0.25, FULL, online=True),
    ),
}


def space_of(method: str, settings: Settings, cheap: bool = False, fixed: Collection[str] = ()) -> Space:
    """Give what a search of a method varies: nothing that is `fixed`.

    A `cheap` one leaves alone what makes an index ask a model again.
    """
    if method not in SPACES:
        raise InputError(f"there is no method {method!r} to search; use one of {', '.join(METHODS)}")
    asks = method != "staterag" or settings.tam.abstraction == "model"
    free = [parameter for parameter in SPACES[method] if parameter.key not in fixed]
    return Space.fit([one for one in free if not (cheap and asks and one.index_calls)], settings)
