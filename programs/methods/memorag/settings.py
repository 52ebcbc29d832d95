"""MemoRAG."""

from __future__ import annotations

from pydantic import Field

from programs.bounds import MOST, MOST_TOKENS
from programs.frozen import Frozen


class MemoragSettings(Frozen):
    """MemoRAG Lite, with the values of its published code."""

    gist_chunk_tokens: int = Field(
        4096,
        ge=8,
        le=MOST_TOKENS,
        description="tokens condensed into one gist; less where the model's context is short",
    )
    gist_tokens: int = Field(512, ge=8, le=MOST_TOKENS, description="tokens that a gist may have")
    clue_tokens: int = Field(
        128, ge=8, le=MOST_TOKENS, description="tokens of each completion that recalls from memory"
    )
    clue_words: int = Field(
        3, ge=0, le=1000, description="a recalled line is searched for when it has more words than this"
    )
    draft: bool = Field(
        True, description="also search for an answer drafted from memory, at the cost of a call, as published"
    )
    chunk_tokens: int = Field(
        512, ge=8, le=MOST_TOKENS, description="tokens of a retrieved chunk: whole sentences as far as they fit"
    )
    hits: int = Field(3, ge=1, le=MOST, description="chunks retrieved for each clue, and for the question")
