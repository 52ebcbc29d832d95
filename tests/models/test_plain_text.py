"""Text stays text: what spells a part of a prompt's structure is broken up, and nothing else is touched."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.models.plain_text import MARK, control_lookalikes, line_lookalikes, numbered_items, restored
from tests.support.hostile import CONTROL_TOKENS, FENCES

DECLARED = ("[PAD7]", "<NAME>", "<<NAME>", "<｜fim▁hole｜>", "sentinel")
LABELS = ("Question", "Committed plan", "Answer")
JSON_FORM = "Output JSON with"
ANY = control_lookalikes(DECLARED)
LINES = line_lookalikes(*LABELS, openings=(JSON_FORM,))
BREAKS = ["\n", "\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029"]

pieces = st.sampled_from(
    [*CONTROL_TOKENS, *FENCES, *DECLARED, *LABELS, JSON_FORM, *BREAKS, "<", "|", "[", "]", ">", ":", "[2]", " ", "**"]
)
unmarked = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=MARK), max_size=20)
texts = st.lists(st.one_of(pieces, unmarked), max_size=12).map("".join)
plain_words = st.text(st.sampled_from("abc ABC.,;!?()'\"-é日\n0123 <>[]|#"), max_size=80).filter(
    lambda text: not any(re.search(r"[<\[\]>|#]\S*[<\[\]>|#]", line) for line in text.split("\n"))
)


def reads_as_a_field(line: str) -> bool:
    """Look at a line as a reader would: past bullets and emphasis, in any case."""
    words = " ".join(re.sub(r"^[^\w]+", "", line).split()).casefold()
    return words.startswith((*(f"{label.casefold()}:" for label in LABELS), JSON_FORM.casefold()))


def reads_as_an_item(line: str) -> bool:
    return re.match(r"[^\w\[]*\[\s*\d+\s*\]", line) is not None


@given(texts)
def test_I13_what_was_broken_up_is_given_back(text):
    for lookalikes in (ANY, LINES):
        assert restored(lookalikes.break_up(text)) == text
    assert restored(LINES.break_up(ANY.break_up(text))) == text
    assert restored(numbered_items([text])) == f"[1] {text}"


@given(texts)
def test_I13_no_control_token_is_left(text):
    broken = ANY.break_up(text)
    assert not [token for token in (*CONTROL_TOKENS, *DECLARED) if token in broken]


@given(texts)
def test_breaking_up_twice_changes_nothing_more(text):
    for lookalikes in (ANY, LINES):
        once = lookalikes.break_up(text)
        assert lookalikes.break_up(once) == once


@given(texts)
def test_I13_no_line_of_a_value_reads_as_a_field_or_as_the_output_form(text):
    assert not [line for line in LINES.break_up(text).splitlines() if reads_as_a_field(line)]


@given(st.lists(texts, min_size=1, max_size=4))
def test_I13_no_line_of_an_item_reads_as_the_number_of_an_item(items):
    lines = numbered_items(items).splitlines()
    assert [line.split("]")[0] for line in lines if reads_as_an_item(line)] == [f"[{i + 1}" for i in range(len(items))]


@given(texts, st.integers(0, 200))
def test_I13_no_control_token_is_made_of_two_texts_that_are_read_as_one(text, at):
    whole = "".join(ANY.break_up_parts(text[:at], text[at:]))
    assert whole == ANY.break_up(text)
    assert [restored(part) for part in ANY.break_up_parts(text[:at], text[at:])] == [text[:at], text[at:]]


@given(plain_words)
def test_text_that_looks_like_no_structure_is_left_alone(text):
    assert control_lookalikes().break_up(text) == text


ORDINARY = [
    "The lighthouse was rebuilt in 1862 [12], see <https://example.org/a_b> and [note].",
    "if a<b and c>d or x[i_max] > y[2]: vector<int> v; std::map<my_key, my_value> m;",
    "<p>Some <b>bold</b> text &lt;s&gt;</p>\n<table><tr><td>1</td></tr></table>",
    "# Heading\n\nThe question is what the answer was. Question and answer follow.\n- a point",
    "[section]\nkey = value\nnumbers = [1, 2]\n[[tool.thing]]",
    'He said: "The Human: A History" | column | column |\n|---|---|',
    "日本語の文書。質問：なし。 العربية 🙂👩‍👩‍👧 e\u0301 a\u2060b",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone_to_the_byte(text):
    assert control_lookalikes().break_up(text) == text
    assert LINES.break_up(text) == text
    assert numbered_items([text]) == f"[1] {text}"


@pytest.mark.parametrize("token", [*CONTROL_TOKENS, *(token for token in DECLARED if token != "<<NAME>")])
def test_I13_every_family_is_known(token):
    assert ANY.break_up(f"a{token}b") == f"a{token[0]}{MARK}{token[1:]}b"


@pytest.mark.parametrize("fence", FENCES)
@pytest.mark.parametrize("before", ["", "\n", "text\n\n", "> ", "\r\n - "])
def test_I13_fences_are_broken_up_where_a_line_begins_and_nowhere_else(fence, before):
    word = fence.lstrip("# ")
    broken = fence.replace(word, f"{word[0]}{MARK}{word[1:]}")
    assert ANY.break_up(f"{before}{fence} hi") == f"{before}{broken} hi"
    assert ANY.break_up(f"word {fence} hi") == f"word {fence} hi"


@pytest.mark.parametrize(
    "line",
    [
        "Question:",
        "  question : who?",
        "**Question:** who?",
        "## Answer:",
        "> - ANSWER:\t",
        "Committed\u00a0 plan:",
        "Ｑｕｅｓｔｉｏｎ：who?",
        "𝐀𝐧𝐬𝐰𝐞𝐫: yes",
        'output json with "a"',
    ],
)
@pytest.mark.parametrize("line_break", BREAKS)
def test_I13_a_label_is_broken_up_however_it_is_dressed(line, line_break):
    broken = LINES.break_up(f"text{line_break}{line}")
    assert MARK in broken
    assert restored(broken) == f"text{line_break}{line}"


def test_a_label_in_a_line_and_another_prompts_label_are_left_alone():
    text = "The Question: an essay\nEvidence:\nQuestions:\nAnswering: no"
    assert LINES.break_up(text) == text


def test_the_mark_is_taken_out_of_what_a_model_writes_in_either_spelling():
    assert restored(f"<{MARK}|im_end|>") == "<|im_end|>"
    assert (
        restored('{"said": "<\\u206f|im_end|>", "kept": "\\\\u206f"}') == '{"said": "<|im_end|>", "kept": "\\\\u206f"}'
    )


@pytest.mark.parametrize("piece", ["<", "[", "*", "<|", "<a_", "]~", ">>A", "\n", "> ", "Question ", "# "])
def test_a_long_run_of_what_structure_begins_with_is_read_to_its_end(piece):
    text = piece * 50_000
    assert ANY.break_up(text) == LINES.break_up(text) == text
    assert numbered_items([text]) == f"[1] {text}"
