"""What a document wrote is shown as it is, unless it would do something to the terminal or to the order of a line."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.report.visible import HARMLESS, one_line, visible


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\n",
        "👩\u200d👩\u200d👧 ❤\ufe0f 🇫🇷",
        "می\u200cخواهم",
        "cafe\u0301 नि",
        "עברית \u200fabc",
        "مرحبا",
        "ภาษา\u200bไทย",
        "co\u00adop",
        "a\u2028b\u00a0c",
    ],
)
def test_writing_of_any_script_stands_as_it_is(text):
    assert visible(text) == text


def test_the_line_ends_of_every_system_are_line_ends():
    assert visible("one\r\ntwo\nthree\rfour\r\n") == "one\ntwo\nthree\nfour\n"


@pytest.mark.parametrize(
    "character",
    [*map(chr, (*range(9), 11, 12, *range(14, 32), *range(127, 160))), *map(chr, range(0x202A, 0x202F)),
     *map(chr, range(0x2066, 0x2070)), "\ufff9", "\U000e0001", "\U000e0041", "\ud800"],
)  # fmt: skip
def test_what_moves_the_cursor_overrides_direction_or_hides_text_is_replaced(character):
    assert visible(f"a{character}b") == "a�b"


@given(st.text(st.characters()))
def test_nothing_that_is_shown_controls_anything(text):
    shown = visible(text)
    assert all(c in "\n\t" or c in HARMLESS or unicodedata.category(c) not in ("Cc", "Cf", "Cs") for c in shown)
    assert visible(shown) == shown
    assert "\n" not in one_line(text)
    shown.encode()
