"""Which characters may not reach a screen or a page, said apart from the code that keeps them away."""

from __future__ import annotations

import unicodedata

BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x2070)}
"""What turns the direction of the text behind it, so that a line reads otherwise than it is."""
TAGS = range(0xE0000, 0xE0080)


def is_dangerous(character: str) -> bool:
    """Whether it moves a cursor, turns a line round or hides text; joiners and marks of letters do none of it."""
    if character in "\n\t":
        return False
    return unicodedata.category(character) in ("Cc", "Cs") or ord(character) in BIDI or ord(character) in TAGS
