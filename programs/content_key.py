"""Content keys: the same parts always have the same name, so what was computed once can be found again."""

from __future__ import annotations

import hashlib


def content_key(*parts: str) -> str:
    """Name a sequence of texts. Lengths are part of the name, so moving a boundary changes it."""
    return content_bytes(*parts).hex()


def content_bytes(*parts: str) -> bytes:
    """Give the name as bytes, for stores that hold many of them."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.digest()
