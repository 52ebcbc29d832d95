"""Bytes of a file into characters: by their byte-order mark, as UTF-8, or by a guess that is said.

Nothing is done to the characters: `\\r\\n` stays two of them. A byte-order mark is no part of the text, so offset 0 is
the first character after it. `open(path, encoding=…, newline="").read()` gives the same text, with the encoding
`utf-8-sig`, `utf-16`, `utf-32`, or the one that the warning of a guess names.
"""

from __future__ import annotations

import codecs
import re
import warnings
from pathlib import Path

from charset_normalizer import from_bytes

from programs.errors import InputError

MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
OTHER_ALPHABETS = (
    "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "cp932", "euc_jp", "gb18030", "big5", "cp949"
)  # fmt: skip
WESTERN = ("cp1252", "latin-1")
LETTERS = bytes([*range(0x41, 0x5B), *range(0x61, 0x7B)])
HIGH = bytes(range(0x80, 0x100))
FEWEST = 4
"""Characters below which a NUL is rather a fault than half of one."""
SAMPLE = 65_536
"""Bytes by which an alphabet is guessed, from the first one on that is not ASCII."""
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
"""What text does not have: of the control characters all but white space, the escape of terminals and NEL."""
RARE = 50
"""One character in so many may be a control character in text whose encoding was guessed; and one in so many
must be ASCII in text of two or four bytes a character that has no mark."""


class GuessedEncoding(UserWarning):
    """A file that is not UTF-8 and does not say what it is; the message names it and the encoding it was read in."""


def decoded(raw: bytes, path: Path) -> str:
    """Give the characters of a file's bytes. Raises `InputError` where they are no text."""
    for mark, encoding in MARKS.items():
        if raw.startswith(mark):
            return _without_nul(_marked(raw, mark, encoding, path), path)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return _guessed(raw, path)
    return text if "\0" not in text else _guessed(raw, path)


def _marked(raw: bytes, mark: bytes, encoding: str, path: Path) -> str:
    try:
        return raw[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        at = len(mark) + error.start
        raise InputError(
            f"{path}: not {encoding.upper()}, though its first bytes say so: byte 0x{raw[at]:02x} at byte {at}; "
            "save it as UTF-8 text"
        ) from error


def _guessed(raw: bytes, path: Path) -> str:
    """Read as the first encoding that gives something like text, and warn of the guess."""
    _refuse_damaged(raw, path)
    for encoding in _wide(raw) if b"\0" in raw else (*_other_alphabet(raw), *WESTERN):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _is_wide_text(text) if encoding in WIDE else _is_text(text):
            warnings.warn(
                f"{path}: not UTF-8; read as {encoding}, which is a guess: save it as UTF-8 if letters come out wrong",
                GuessedEncoding,
                stacklevel=5,
            )
            return text
    return _without_nul(raw.decode("latin-1"), path, "too many of its bytes are no characters in any encoding")


def _refuse_damaged(raw: bytes, path: Path) -> None:
    """Refuse UTF-8 with a few bytes that are wrong: in another encoding all its letters would be."""
    recovered = raw.decode("utf-8", "ignore").encode()
    if 2 * _high(recovered) > _high(raw):
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}: not UTF-8: byte 0x{raw[error.start]:02x} at byte {error.start}; save it as UTF-8 text"
            ) from error


def _high(raw: bytes) -> int:
    """Count the bytes that are not ASCII."""
    return len(raw) - len(raw.translate(None, HIGH))


def _wide(raw: bytes) -> tuple[str, ...]:
    """Give the encodings of several bytes a character, unless all is ASCII and hardly any of it NUL."""
    return WIDE if not raw.isascii() or 20 * raw.count(0) >= len(raw) else ()


def _other_alphabet(raw: bytes) -> list[str]:
    """Guess an encoding of letters that are not Latin.

    Where most letters are ASCII there is nothing to guess by: the few others are told apart by too little, and are most
    often Western European.
    """
    if _high(raw) <= len(raw) - len(raw.translate(None, LETTERS)):
        return []
    first = len(raw) - len(raw.lstrip(bytes(range(0x80))))
    best = from_bytes(raw[first : first + SAMPLE].rsplit(b"\n", 1)[0], cp_isolation=list(OTHER_ALPHABETS)).best()
    return [best.encoding] if best else []


def _is_text(text: str) -> bool:
    return CONTROL.subn("", text)[1] * RARE <= len(text)


def _is_wide_text(text: str) -> bool:
    plain = len(text.encode("ascii", "ignore"))
    return "\0" not in text and len(text) >= FEWEST and plain * RARE >= len(text) and _is_text(text)


def _without_nul(text: str, path: Path, otherwise: str | None = None) -> str:
    at = text.find("\0")
    what = f"NUL at character {at}" if at >= 0 else otherwise
    if what is None:
        return text
    raise InputError(f"{path}: not a text file: {what}; save it as UTF-8 text")
