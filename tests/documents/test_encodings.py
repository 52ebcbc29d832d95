"""Bytes in any encoding become the characters that were meant, and a guess is said."""

import codecs
import warnings

import pytest

from programs.documents.encodings import GuessedEncoding
from programs.documents.text import load_documents, read_text
from programs.errors import InputError

FRENCH = "Le garçon fut élevé près de la forêt, où l’été durait.\r\nIl y resta.\r\n"
RUSSIAN = "Старая верфь была основана в 1850 году.\nОна стояла у реки.\n"
JAPANESE = "古い造船所は1850年に設立された。\nそれは川のそばにあった。\n" * 3


def write(folder, data):
    path = folder / "a.txt"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, JAPANESE, "🙂 x"])
@pytest.mark.parametrize(
    ("mark", "encoding", "opened_as"),
    [
        (codecs.BOM_UTF8, "utf-8", "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16"),
        (codecs.BOM_UTF32_LE, "utf-32-le", "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32-be", "utf-32"),
    ],
)
def test_a_file_with_a_byte_order_mark_is_read_as_a_person_opens_it_without_a_warning(
    tmp_path, text, mark, encoding, opened_as
):
    path = write(tmp_path, mark + text.encode(encoding))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = load_documents([path]).texts["a.txt"]
    with open(path, encoding=opened_as, newline="") as file:
        assert read == file.read() == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "cp1252"),
        ("café au lait", "cp1252"),
        ("It’s the “old” shipyard – founded 1850.", "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (JAPANESE, "cp932"),
        (FRENCH, "utf-16-le"),
        (RUSSIAN, "utf-16-be"),
        (JAPANESE, "utf-16-le"),
        (FRENCH, "utf-32-be"),
    ],
)
def test_an_encoding_that_is_not_said_is_guessed_and_named_so_that_offsets_can_be_checked(tmp_path, text, encoding):
    path = write(tmp_path, text.encode(encoding))
    with pytest.warns(GuessedEncoding, match=rf"a\.txt: not UTF-8; read as {encoding}, which is a guess"):
        read = load_documents([path]).texts["a.txt"]
    with open(path, encoding=encoding, newline="") as file:
        assert read == file.read() == text


def test_a_byte_that_windows_leaves_out_is_read_as_latin_1(tmp_path):
    with pytest.warns(GuessedEncoding, match="latin-1"):
        assert read_text(write(tmp_path, "été ".encode("latin-1") * 40 + b"\x81")) == "été " * 40 + "\x81"


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0",
        b"ab\0cd",
        b"a\0",
        b"all of this is plain text but for one byte\0 that is not",
        bytes(range(256)) * 4,
        b"%\xe2\xe3\xcf\xd3" + bytes(range(1, 32)) * 9,
        codecs.BOM_UTF16_LE + b"a\0\0",
        codecs.BOM_UTF8 + b"a\0b",
        ("été " * 50).encode() + b"\xe2\x82",
    ],
)
def test_what_is_no_text_is_refused_and_not_guessed(tmp_path, data):
    with pytest.raises(InputError, match=r"a\.txt: not"):
        read_text(write(tmp_path, data))
