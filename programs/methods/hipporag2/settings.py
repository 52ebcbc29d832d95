"""HippoRAG2."""

from __future__ import annotations

from pydantic import Field

from programs.bounds import MOST, CallTokens, Candidates, Count, Tokens, Weight
from programs.frozen import Frozen
from signatures.baselines.hipporag2 import MOST_FACTS


class Hipporag2Settings(Frozen):
    """HippoRAG2."""

    passage_tokens: Tokens = Field(1024, description="encoder tokens of a passage that the extractor reads at most")
    extraction_tokens: CallTokens = Field(2048, description="tokens that a list of entities or of triples may have")
    synonymy_threshold: float = Field(0.8, ge=-1, le=1, description="cosine from which two phrases are synonyms")
    synonymy_neighbours: int = Field(100, ge=0, le=MOST, description="synonyms of a phrase at most, the nearest")
    synonymy_characters: Count = Field(3, description="letters and digits that a phrase needs to look for synonyms")
    linking_top_k: int = Field(
        5, ge=1, le=MOST_FACTS, description="facts shown to the recognition memory, and phrases that seed the walk"
    )
    filter_tokens: CallTokens = Field(512, description="tokens that the recognition memory's answer may have")
    passage_node_weight: Weight = Field(0.05, description="weight of a passage's own similarity in the seeds")
    damping: float = Field(0.5, gt=0, lt=1, description="damping of the personalised PageRank")
    retrieval_top_k: Candidates = Field(200, description="passages ranked")
    qa_top_k: Count = Field(5, description="ranked passages handed to the reader")
