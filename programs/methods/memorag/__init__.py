"""MemoRAG, its Lite route: gists of the whole collection give clues to search by."""

from __future__ import annotations

from programs.methods.memorag.settings import MemoragSettings
from programs.methods.space import YES_NO, OneOf, Whole
from programs.methods.spec import MethodSpec

SPEC = MethodSpec(
    name="memorag",
    label="MemoRAG",
    program="programs.methods.memorag.program:MemoRAG",
    settings=MemoragSettings,
    space=(
        OneOf("memorag.gist_chunk_tokens", (1024, 2048, 4096), index_calls=True),
        OneOf("memorag.gist_tokens", (128, 256, 512), index_calls=True),
        OneOf("memorag.chunk_tokens", (128, 256, 384, 512)),
        Whole("memorag.hits", 1, 8, online=True),
        OneOf("memorag.draft", YES_NO, online=True),
        Whole("memorag.clue_words", 0, 6, online=True),
    ),
    place=8,
    printed=7,
)
