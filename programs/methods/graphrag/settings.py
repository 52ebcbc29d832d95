"""GraphRAG: the defaults of version 3.1.2, and what a reader budget and a small context add to them."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from programs.bounds import MOST, MOST_TOKENS, CallTokens, Count, Seed, Share, Tokens
from programs.frozen import Frozen


class GraphragSettings(Frozen):
    """GraphRAG. Inputs are counted in encoder tokens, and cut further where the model's context is smaller."""

    search: Literal["local", "global"] = Field(
        "local", description="'local' searches from the entities nearest to the question; 'global' reads all reports"
    )
    chunk_tokens: Tokens = Field(1200, description="tokens of a text unit, as far as unit_share allows")
    chunk_overlap: int = Field(
        100,
        ge=0,
        le=MOST_TOKENS,
        description="tokens that neighbouring text units share; as much less as text units are smaller",
    )
    unit_share: float = Field(
        0.16,
        gt=0,
        le=1,
        description="part of the reader's budget that one text unit may take: half of it for text units holds three, "
        "and 12,000 tokens, the published context, leave them as long as published",
    )

    entity_types: tuple[str, ...] = Field(
        ("organization", "person", "geo", "event"), min_length=1, description="types of entities to look for"
    )
    gleanings: int = Field(1, ge=0, le=100, description="further passes over a text unit, for what was missed")
    extraction_tokens: CallTokens = Field(1800, description="completion tokens of an extraction or a gleaning")
    description_input_tokens: CallTokens = Field(4000, description="descriptions summarised by one call")
    description_tokens: CallTokens = Field(500, description="completion tokens of a summarised description")

    cluster_size: int = Field(10, ge=2, le=MOST, description="entities of a community, above which it is divided")
    largest_component: bool = Field(True, description="look for communities in the largest component alone")
    resolution: float = Field(
        1.0, gt=0, le=1000, description="resolution of modularity; higher gives smaller communities"
    )
    randomness: float = Field(0.001, gt=0, le=1000, description="randomness of Leiden's refinement")
    iterations: Count = Field(1, description="iterations of Leiden")
    seed: Seed = Field(0xDEADBEEF, description="seed of Leiden")

    report_input_tokens: CallTokens = Field(8000, description="tokens of a community that its report is made from")
    report_tokens: CallTokens = Field(2000, description="completion tokens of a report")

    top_entities: Count = Field(10, description="entities that a question is mapped to")
    oversample: Count = Field(2, description="times as many are looked up, and the released code keeps them all")
    top_relationships: Count = Field(10, description="relationships to other entities, for each mapped entity")
    community_level: int = Field(2, ge=0, le=100, description="deepest level of communities whose reports are read")
    text_unit_share: Share = Field(0.5, description="part of the reader's budget for text units")
    community_share: Share = Field(0.15, description="part for reports; statements get the rest")
    entity_share: Share = Field(
        0.5, description="part of that rest for entities, or they would fill it alone at small budgets"
    )

    map_input_tokens: CallTokens = Field(12_000, description="reports that one call of a global search reads")
    map_tokens: CallTokens = Field(1000, description="completion tokens of such a call")
    shuffle_seed: Seed = Field(86, description="seed of the order in which a global search reads reports")

    def unit_tokens(self, budget: int) -> int:
        """Give the tokens of a text unit where the reader has this budget."""
        return max(1, min(self.chunk_tokens, int(budget * self.unit_share)))

    def unit_overlap(self, budget: int) -> int:
        """Give the tokens that such text units share, in the proportion that the settings have."""
        return self.chunk_overlap * self.unit_tokens(budget) // self.chunk_tokens

    @model_validator(mode="after")
    def _parts_fit_the_whole(self) -> Self:
        if self.chunk_overlap >= self.chunk_tokens:
            raise ValueError(
                f"chunk_overlap {self.chunk_overlap} must be less than chunk_tokens {self.chunk_tokens}, "
                "or text units would not advance"
            )
        if self.text_unit_share + self.community_share > 1:
            raise ValueError(
                f"text_unit_share {self.text_unit_share} and community_share {self.community_share} "
                "must not be more than 1 together"
            )
        return self
