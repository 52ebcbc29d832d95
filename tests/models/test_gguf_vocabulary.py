"""The control tokens of a GGUF file, read from files made here to the letter of the format."""

from __future__ import annotations

import struct

import pytest

from programs.models.engines.gguf_vocabulary import control_tokens

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
VOCABULARY = [
    ("<unk>", UNKNOWN),
    ("<s>", CONTROL),
    ("sentinel", CONTROL),
    ("\u00e9", CONTROL),
    ("<0x0A>", BYTE),
    ("the", NORMAL),
    ("<|normal|>", NORMAL),
    ("<gone>", UNUSED),
    ("<tool_call>", USER_DEFINED),
    (">>TITLE<<", USER_DEFINED),
    ("<｜fim▁hole｜>", USER_DEFINED),
    ("    ", USER_DEFINED),
    ("\n\n", USER_DEFINED),
    ("-----", USER_DEFINED),
    ("word", USER_DEFINED),
]
DECLARED = ("<unk>", "<s>", "sentinel", "<tool_call>", ">>TITLE<<", "<｜fim▁hole｜>")
"""What a text may not spell. A run of space or a word that is kept whole is text all the same."""


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def field(name, kind, value):
    return string(name) + struct.pack("<I", kind) + value


def array(kind, values):
    return struct.pack("<IQ", kind, len(values)) + b"".join(values)


TOKENS = field("tokenizer.ggml.tokens", 9, array(8, [string(token) for token, _ in VOCABULARY]))
KINDS = field("tokenizer.ggml.token_type", 9, array(5, [struct.pack("<i", kind) for _, kind in VOCABULARY]))
OTHERS = [
    field("general.name", 8, string("tiny")),
    field("a.byte", 0, b"\x01"),
    field("a.flag", 7, b"\x01"),
    field("a.half", 2, b"\x01\x02"),
    field("a.float", 6, struct.pack("<f", 1.5)),
    field("a.double", 12, struct.pack("<d", 1.5)),
    field("a.big", 10, struct.pack("<Q", 2**40)),
    field("scores", 9, array(6, [struct.pack("<f", 0.0)] * 3)),
    field("merges", 9, array(8, [string("a b"), string("")])),
    field("nested", 9, array(9, [array(0, [b"\x01"]), array(8, [string("x")])])),
]


def written(path, *fields):
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, len(fields)) + b"".join(fields) + b"tensors")
    return path


@pytest.mark.parametrize("place", [0, 4, len(OTHERS)])
def test_I13_what_a_tokenizer_takes_for_a_token_of_its_own_is_read_wherever_it_stands(tmp_path, place):
    fields = [*OTHERS[:place], KINDS, TOKENS, *OTHERS[place:]]
    assert control_tokens(written(tmp_path / "m.gguf", *fields)) == DECLARED


@pytest.mark.parametrize("fields", [OTHERS, [*OTHERS, TOKENS]])
def test_a_file_that_does_not_say_which_tokens_are_control_tokens_has_none(tmp_path, fields):
    assert control_tokens(written(tmp_path / "m.gguf", *fields)) == ()
