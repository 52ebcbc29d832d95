"""This project: a typed state that four roles propose to and one controller commits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from programs.methods.space import FULL, YES_NO, Filling, Near, OneOf, Real, Whole, segmentation
from programs.methods.spec import MethodSpec

if TYPE_CHECKING:
    from programs.settings import Settings


def has_cross_encoder(settings: Settings) -> bool:
    return settings.cross_encoder.engine != "none"


def scores_by_embedding(settings: Settings) -> bool:
    """Beside which a cross-encoder may have a weight."""
    return has_cross_encoder(settings) and "embedding" in settings.navigation.scorer


def ranks_by_score(settings: Settings) -> bool:
    return settings.retriever.ranker != "model"


def ranks_by_encoders(settings: Settings) -> bool:
    return has_cross_encoder(settings) and ranks_by_score(settings)


def abstracts_by_model(settings: Settings) -> bool:
    return settings.tam.abstraction == "model"


SPEC = MethodSpec(
    name="staterag",
    label="StateRAG",
    program="programs.methods.staterag.program:StateRAG",
    space=(
        *segmentation(index_calls=abstracts_by_model),
        Near("encoder.relation_threshold", 0.10, index_calls=abstracts_by_model),
        Near("encoder.topic_threshold", 0.12, index_calls=abstracts_by_model),
        Whole("tam.region_size", 4, 16),
        OneOf("tam.region_rule", ("siblings", "names")),
        OneOf("navigation.paths", ("one", "target", "plan"), online=True),
        OneOf("navigation.chain", YES_NO, online=True),
        OneOf("navigation.reading", ("abstraction", "evidence"), online=True),
        Whole("navigation.traces", 1, 8, online=True),
        Whole("navigation.branch", 1, 4, online=True),
        Whole("navigation.beam", 2, 8, online=True),
        OneOf("navigation.candidates", (32, 64, 96)),
        OneOf("navigation.scorer.cross-encoder", (0, 0.05, 0.1, 0.2, 0.5, 1), online=True, when=scores_by_embedding),
        OneOf(
            "retriever.ranker", ("cross-encoder", "embedding", "fusion", "fitted"), online=True, when=ranks_by_encoders
        ),
        Whole("retriever.rerank", 10, 60, online=True),
        OneOf("retriever.terminals", YES_NO, online=True, when=ranks_by_score),
        Real("retriever.minimum", 0.0, 0.5, online=True, when=ranks_by_score),
        OneOf("retriever.revision", ("again", "add"), online=True),
        OneOf("retriever.sentences", (None, 1, 2, 3), online=True, when=ranks_by_encoders),
        Filling("lifecycle.keep_first", 0.25, FULL, online=True),
        Filling("lifecycle.keep_revised", 0.25, FULL, online=True),
        OneOf("lifecycle.carry", YES_NO, online=True),
        Whole("lifecycle.cycles", 1, 3, online=True),
        OneOf("verifier.rule", ("coverage", "model", "both"), online=True, when=has_cross_encoder),
        OneOf("verifier.wants", ("targets", "query", "all", "query-first"), online=True, when=has_cross_encoder),
        Real("verifier.threshold", 0.05, 0.99, online=True, when=has_cross_encoder),
    ),
    fixed=(
        Real("encoder.relation_threshold", -1.0, 1.0),
        Real("encoder.topic_threshold", -1.0, 1.0),
        OneOf("tam.abstraction", ("model", "lead")),
        OneOf("retriever.ranker", ("model", "cross-encoder", "embedding", "fusion", "fitted")),
        *(
            Real(f"navigation.scorer.{scorer}", 0.0, 1.0)
            for scorer in ("listwise", "cross-encoder", "likelihood", "embedding")
        ),
        Real("verifier.target_threshold", 0.0, 1.0),
        Whole("memory.similar_plans", 0, 8),
        Real("memory.plan_similarity", 0.0, 1.0),
    ),
    place=0,
    printed=10,
)


def variant(
    name: str,
    label: str,
    program: str,
    *,
    place: int,
    removed: str = "",
    carrier: str = "",
    contract: tuple[str, ...] = (),
) -> MethodSpec:
    """Describe a method that is StateRAG but for one thing: it has its settings, and runs with what is compiled for it.

    `program` is the class alone: it stands in the module `program` of the folder that is called like the method.
    """
    own = replace(SPEC, name=name, label=label, place=place, removed=removed, carrier=carrier, contract=contract)
    return replace(own, program=f"programs.methods.{own.branch}.program:{program}", base=SPEC.name)
