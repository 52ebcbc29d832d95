"""MemoRAG."""

from __future__ import annotations

from pydantic import Field

from programs.bounds import Count, Tokens
from programs.frozen import Frozen


class MemoragSettings(Frozen):
    """MemoRAG Lite, with the values of its published code."""

    gist_chunk_tokens: Tokens = Field(
        4096, description="tokens condensed into one gist; less where the model's context is short"
    )
    gist_tokens: Tokens = Field(512, description="tokens that a gist may have")
    clue_tokens: Tokens = Field(128, description="tokens of each completion that recalls from memory")
    clue_words: int = Field(
        3, ge=0, le=1000, description="a recalled line is searched for when it has more words than this"
    )
    draft: bool = Field(
        True, description="also search for an answer drafted from memory, at the cost of a call, as published"
    )
    chunk_tokens: Tokens = Field(512, description="tokens of a retrieved chunk: whole sentences as far as they fit")
    hits: Count = Field(3, description="chunks retrieved for each clue, and for the question")
