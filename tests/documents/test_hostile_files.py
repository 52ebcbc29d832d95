"""Whatever lies in a folder, text comes out or a person is told: never a traceback, never an id that breaks a line."""

import os
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from programs.documents.text import READERS, load_documents
from programs.errors import InputError
from tests.support.examples import examples

TEXT = "# Ånn\r\n\r\nThe ferry — “Alda” — left at 9.\tНочь. 夜🙂\u200d\u0301\n"
ENCODED = [TEXT.encode(encoding) for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32-be", "utf-16-le")]
MARKS = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"\0", b"\x1b]0;x\x07", b"\x80"]


def outcome(read):
    """Give what is read, or what is said instead."""
    try:
        return read(), ""
    except InputError as error:
        return None, str(error)


@st.composite
def mutated(draw):
    """A text with pieces cut out, bytes changed, and marks put where they do not belong."""
    data = bytearray(draw(st.sampled_from(ENCODED)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 5))] = draw(st.sampled_from(MARKS) | st.binary(max_size=4))
    return bytes(data) * draw(st.sampled_from([1, 1, 40]))


NAMES = st.binary(min_size=1, max_size=20).filter(lambda n: not {0, 0x2F} & set(n) and not n.startswith(b"."))


@settings(max_examples=examples(60), deadline=None)
@given(
    data=st.binary(max_size=400) | mutated(),
    name=st.sampled_from([b"a", b"\x1b[2J", b"two\nlines", b"caf\xe9", "e\u0301\u202e".encode()]) | NAMES,
    suffix=st.sampled_from([".txt", ".md", ".rst", ".TEXT", ".markdown"]),
    named=st.booleans(),
)
@example(data=b"", name=b"a", suffix=".txt", named=True)
def test_any_bytes_in_a_file_of_any_name_are_text_or_refused(data, name, suffix, named):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name + suffix.encode()))
        try:
            path.write_bytes(data)
        except OSError:
            return  # this file system does not take the name
        (Path(folder) / "zz.md").write_text("beside it")
        given = [path, Path(folder)] if named else [Path(folder)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read, refused = outcome(lambda: load_documents(given))
    if read is None:
        assert named
        assert os.fspath(path) in refused
        return
    assert "beside it" in read.texts.values()
    for source in read.each():
        assert "\0" not in source.text
        source.source_id.encode()
        source.text.encode()


@settings(max_examples=examples(40), deadline=None)
@given(data=st.binary(max_size=300) | mutated(), suffix=st.sampled_from(READERS.names()))
def test_every_reader_gives_text_or_an_input_error(data, suffix):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, f"a{suffix}")
        path.write_bytes(data)
        text, refused = outcome(lambda: READERS.get(suffix)(path))
        assert isinstance(text, str) if text is not None else path.name in refused


@pytest.mark.parametrize(
    "line", [b"\xe9" * 1000 + b"\n", b"a" * 2000, b"\0 " * 1000, b"\x1b[0m" * 500, "夜".encode() * 700]
)
def test_a_large_file_of_one_odd_thing_is_settled(tmp_path, line):
    path = tmp_path / "a.txt"
    path.write_bytes(line * 2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read, refused = outcome(lambda: load_documents([path]))
    assert read.texts if read is not None else "a.txt" in refused
