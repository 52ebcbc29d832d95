"""What a document or a model wrote, as it may safely stand on a terminal."""

from __future__ import annotations

import unicodedata

REPLACEMENT = "�"
HARMLESS = frozenset(
    "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # join, part or break words and emoji, and have no width
    "\u061c\u200e\u200f"  # marks of direction, which are like a letter of it
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"  # signs round numbers
)
"""Characters without a shape of their own that writing needs. The rest of their category overrides the direction of
what follows, hides text, or is not used."""


def visible(text: str) -> str:
    """Make control characters harmless: a document must not move the cursor, colour the screen or reorder a line.

    A line end of any system is a line end; letters of any script, and what joins them, stand as they are.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return lines if lines.isascii() and lines.isprintable() else "".join(map(_shown, lines))


def one_line(text: str) -> str:
    """Do the same for what must stay on its line, such as a message that names a file."""
    return " ".join(visible(text).split("\n"))


def _shown(character: str) -> str:
    if character in "\n\t" or character in HARMLESS:
        return character
    return REPLACEMENT if unicodedata.category(character) in ("Cc", "Cf", "Cs") else character
