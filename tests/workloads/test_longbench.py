"""LongBench files: rows as examples, contexts as passages, and where the gold ones stand."""

import gzip
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.documents.collection import Collection, Source
from programs.errors import InputError
from programs.workloads.longbench import (
    HEADER,
    Passage,
    context_collection,
    gold_passages,
    load_longbench,
    passages,
)
from tests.workloads.files import write, write_rows

ROW = {
    "_id": "r1",
    "input": "Who mends the nets?",
    "context": "Passage 1:\nNets\r\nNets are mended.\nPassage 2:\nOdd\u2028ity\nIda Holm mends them.\n",
    "answers": ["Ida Holm"],
    "length": 12,
    "dataset": "hotpotqa",
    "language": "en",
    "all_classes": None,
}


def test_a_row_becomes_a_query_over_the_passages_of_its_context_exactly_and_a_reference(tmp_path):
    row = {**ROW, "supporting_titles": ["Nets"], "question_type": "bridge"}
    (example,) = load_longbench(write_rows(tmp_path / "t.jsonl", row))
    collection = example.query.collection
    assert collection.texts == {
        "passage-1": "Nets\r\nNets are mended.",
        "passage-2": "Odd\u2028ity\nIda Holm mends them.",
    }
    assert collection.cut_from.text == ROW["context"]
    assert all(ROW["context"].startswith(source.text, source.start) for source in collection.each())
    assert (example.query.query_id, example.query.question, example.query.position) == ("r1", ROW["input"], 0)
    assert example.reference.answers == ("Ida Holm",)
    assert [[passage.title for passage in group] for group in example.reference.passages] == [["Nets"]]
    assert example.reference.question_type == "bridge"
    assert example.reference.cluster is None


def test_the_official_schema_without_our_extra_fields_loads(tmp_path):
    (example,) = load_longbench(write_rows(tmp_path / "t.jsonl", ROW))
    assert example.reference.passages == ()
    assert example.reference.question_type is None


def test_a_gzipped_file_gives_what_the_plain_one_gives_whatever_its_suffix(tmp_path):
    plain = write_rows(tmp_path / "t.jsonl", ROW, {**ROW, "_id": "r2"})
    packed = write(tmp_path / "packed.jsonl", gzip.compress(plain.read_bytes()))
    assert list(load_longbench(packed)) == list(load_longbench(plain))


def test_positions_count_the_questions_from_zero_and_blank_lines_do_not_count(tmp_path):
    path = write_rows(tmp_path / "t.jsonl", "", ROW, "", {**ROW, "_id": "r2"}, {**ROW, "_id": "r3"})
    assert [e.query.position for e in load_longbench(path)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({k: v for k, v in ROW.items() if k != "context"}, "context: Field required"),
        ({**ROW, "_id": "r2", "context": "  "}, "context"),
        ({**ROW, "_id": "r2", "context": "lone \ud800 surrogate"}, "not JSON in UTF-8"),
        ({**ROW, "_id": "r2", "supporting_titles": "Nets"}, "supporting_titles"),
        ({**ROW, "_id": "r2", "input": ""}, "the question is empty"),
        ({**ROW, "_id": "r2", "input": "x" * 20_001}, "20,001 characters"),
    ],
)
def test_a_malformed_row_is_an_error_with_the_file_and_the_line_after_the_rows_before_it(tmp_path, row, message):
    examples = load_longbench(write_rows(tmp_path / "broken.jsonl", ROW, row))
    assert next(examples).query.query_id == "r1"
    with pytest.raises(InputError, match=rf"broken\.jsonl, line 2: .*{message}"):
        next(examples)


def test_passages_are_spans_of_the_context_that_begin_with_the_title():
    context = str(ROW["context"])
    found = passages(context)
    assert [p.title for p in found] == ["Nets", "Odd\u2028ity"]
    assert [context[p.start : p.end] for p in found] == [
        "Nets\r\nNets are mended.",
        "Odd\u2028ity\nIda Holm mends them.",
    ]


def test_a_header_out_of_turn_is_part_of_the_text():
    context = "Passage 1:\nA\nHe wrote:\nPassage 7:\nthe end.\nPassage 2:\nB\nb"
    assert [p.title for p in passages(context)] == ["A", "B"]
    assert "Passage 7:" in context[passages(context)[0].start : passages(context)[0].end]


@pytest.mark.parametrize(
    "context", ["", "plain text", "see Passage 1:\nx", "Passage 2:\nx\ny", "Passage " + "9" * 5000 + ":\n"]
)
def test_a_context_without_passages_has_none(context):
    assert passages(context) == []


def test_a_header_with_nothing_after_it_is_an_empty_passage():
    assert passages("Passage 1:\n") == [Passage("", 11, 11)]


line = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=20).filter(
    lambda text: not text.startswith("Passage")
)
parts = st.lists(st.tuples(line, st.lists(line, max_size=3)), max_size=6)


def together(bodies: list[str]) -> str:
    return "\n".join(f"Passage {n}:\n{body}" for n, body in enumerate(bodies, start=1))


@given(parts)
def test_passages_find_every_passage_of_a_context_that_was_put_together_from_them(parts):
    bodies = ["\n".join([title, *lines]) for title, lines in parts]
    context = together(bodies)
    found = passages(context)
    assert [p.title for p in found] == [title for title, _ in parts]
    assert [context[p.start : p.end] for p in found] == bodies


@given(
    st.lists(st.sampled_from(["Passage 1:\n", "Passage 2:\r\n", "Passage 3:", "\n", "\r", " ", "x"]), max_size=20).map(
        "".join
    )
)
def test_passages_are_ordered_apart_and_inside_any_context(context):
    found = passages(context)
    assert all(0 <= p.start <= p.end <= len(context) for p in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(context[p.start : p.start + len(p.title)] == p.title for p in found)


@given(parts, st.lists(line, max_size=3), st.randoms())
def test_gold_passages_slice_to_title_and_text_in_a_group_for_each_title(parts, strangers, random):
    bodies = ["\n".join([title, *lines]) for title, lines in parts]
    titles = [*(title for title, _ in parts), *strangers]
    random.shuffle(titles)
    context = together(bodies)
    groups = gold_passages(context, titles)
    wanted = [[body for body, (own, _) in zip(bodies, parts, strict=True) if own == title] for title in titles]
    texts = context_collection(context).texts if groups else {}
    assert [[texts[p.source_id][p.start : p.end] for p in group] for group in groups] == wanted


def test_a_repeated_title_gives_every_passage_that_bears_it_and_an_absent_one_an_empty_group(tmp_path):
    context = "Passage 1:\nA\none\nPassage 2:\nB\ntwo\nPassage 3:\nA\nthree"
    row = {**ROW, "context": context, "supporting_titles": ["A", "C"]}
    (example,) = load_longbench(write_rows(tmp_path / "t.jsonl", row))
    groups = example.reference.passages
    texts = example.query.collection.texts
    assert [[texts[p.source_id] for p in group] for group in groups] == [["A\none", "A\nthree"], []]


def test_a_context_without_passages_is_one_source_and_what_stands_before_the_first_is_kept():
    assert context_collection("plain text").texts == {"context": "plain text"}
    assert context_collection("Passage 1:\n").texts == {"context": "Passage 1:\n"}
    opening = "Read this.\nPassage 3:\nis the last.\n"
    collection = context_collection(f"{opening}Passage 1:\nA\none\nPassage 2:\n\nPassage 3:\nC")
    assert collection.texts == {"opening": opening, "passage-1": "A\none", "passage-3": "C"}


@given(parts)
def test_every_word_of_a_context_is_in_a_source_but_for_the_header_lines(parts):
    context = together(["\n".join([title, *lines]) for title, lines in parts]) or "x"
    collection = context_collection(context)
    left = HEADER.sub("", context) if collection.cut_from else context
    assert "".join("".join(collection.texts.values()).split()) == "".join(left.split())


def test_a_passage_that_recurs_is_the_same_content_under_its_number_in_each_row():
    first = context_collection("Passage 1:\nA\none\nPassage 2:\nB\ntwo")
    second = context_collection("Passage 1:\nC\nthree\nPassage 2:\nD\nfour\nPassage 3:\nB\ntwo\n")
    assert first.contents["passage-2"] == second.contents["passage-3"]
    assert first.contents["passage-1"] not in second.contents.values()


def test_a_passage_that_does_not_stand_where_it_says_is_refused():
    with pytest.raises(ValueError, match="'p' is not at 1 of 'context'"):
        Collection(
            sources=(Source(source_id="p", text="ab", start=1),), cut_from=Source(source_id="context", text="abc")
        )
