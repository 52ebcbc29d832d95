"""LongBench files: rows as examples, contexts as passages, and faults with their line."""

import gzip
import json
import os
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.errors import InputError
from programs.workloads.longbench import Passage, load_longbench, passages, supporting_passages

DATA = Path(os.environ.get("STATERAG_DATA", Path(__file__).parents[3] / "shared/data")) / "longbench"
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


def write(path: Path, *rows: dict | str) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_row_becomes_a_query_over_its_context_exactly_and_a_reference(tmp_path):
    row = {**ROW, "supporting_titles": ["Nets"], "question_type": "bridge"}
    (example,) = load_longbench(write(tmp_path / "t.jsonl", row))
    assert example.query.collection.texts == {"context": ROW["context"]}
    assert (example.query.query_id, example.query.question, example.query.position) == ("r1", ROW["input"], 1)
    assert example.reference.answers == ("Ida Holm",)
    assert example.reference.supporting_titles == ("Nets",)
    assert example.reference.question_type == "bridge"


def test_the_official_schema_without_our_extra_fields_loads(tmp_path):
    (example,) = load_longbench(write(tmp_path / "t.jsonl", ROW))
    assert example.reference.supporting_titles == ()
    assert example.reference.question_type is None


def test_a_gzipped_file_gives_what_the_plain_one_gives_whatever_its_suffix(tmp_path):
    plain = write(tmp_path / "t.jsonl", ROW, {**ROW, "_id": "r2"})
    packed = tmp_path / "packed.jsonl"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(load_longbench(packed)) == list(load_longbench(plain))


def test_positions_are_line_numbers_and_blank_lines_count(tmp_path):
    path = write(tmp_path / "t.jsonl", ROW, "", {**ROW, "_id": "r2"})
    assert [e.query.position for e in load_longbench(path)] == [1, 3]


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(ROW).encode() + b"\r\n")
    assert [e.query.query_id for e in load_longbench(path)] == ["r1"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"_id": "x", ', "not a line of JSON"),
        ("[" * 100_000, "not a line of JSON"),
        ("[1, 2]", "the row"),
        ({k: v for k, v in ROW.items() if k != "context"}, "context: Field required"),
        ({**ROW, "_id": "r2", "answers": []}, "answers"),
        ({**ROW, "_id": "r2", "answers": "Ida Holm"}, "answers"),
        ({**ROW, "_id": "r2", "context": "  "}, "context"),
        ({**ROW, "_id": "r2", "context": "lone \ud800 surrogate"}, "context"),
        ({**ROW, "_id": "r2", "input": ""}, "the question is empty"),
        ({**ROW, "_id": "r2", "input": "x" * 20_001}, "20,001 characters"),
        ({**ROW, "_id": 7}, "_id"),
        (ROW, "_id 'r1' is already on line 1"),
    ],
)
def test_a_malformed_row_is_an_error_with_the_file_and_the_line(tmp_path, row, message):
    path = write(tmp_path / "broken.jsonl", ROW, row)
    examples = load_longbench(path)
    assert next(examples).query.query_id == "r1"
    with pytest.raises(InputError, match=rf"broken\.jsonl, line 2: .*{message}") as caught:
        next(examples)
    assert len(str(caught.value)) < 600


def test_a_byte_that_is_not_utf8_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(json.dumps(ROW).encode() + b'\n{"_id": "\xff"}\n')
    with pytest.raises(InputError, match="line 2: not a line of JSON in UTF-8"):
        list(load_longbench(path))


def test_a_gzip_file_that_was_cut_off_is_an_error_and_not_a_shorter_workload(tmp_path):
    path = tmp_path / "t.jsonl.gz"
    rows = [json.dumps({**ROW, "_id": f"r{n}", "context": os.urandom(500).hex()}) for n in range(50)]
    path.write_bytes(gzip.compress("\n".join(rows).encode())[:-200])
    with pytest.raises(InputError, match="gzip data is damaged"):
        list(load_longbench(path))


def test_a_missing_file_is_said_at_once_and_an_empty_one_when_read(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_longbench(tmp_path / "nowhere.jsonl")
    with pytest.raises(InputError, match="holds no questions"):
        list(load_longbench(write(tmp_path / "t.jsonl", "")))


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


@given(st.lists(st.tuples(line, st.lists(line, max_size=3)), max_size=6))
def test_passages_find_every_passage_of_a_context_that_was_put_together_from_them(parts):
    bodies = ["\n".join([title, *lines]) for title, lines in parts]
    context = "\n".join(f"Passage {n}:\n{body}" for n, body in enumerate(bodies, start=1))
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


def test_a_repeated_title_gives_every_passage_that_bears_it_and_an_absent_one_none():
    context = "Passage 1:\nA\none\nPassage 2:\nB\ntwo\nPassage 3:\nA\nthree"
    groups = supporting_passages(context, ["A", "C"])
    assert [[context[p.start : p.end] for p in group] for group in groups] == [["A\none", "A\nthree"], []]


@pytest.mark.parametrize("task", ["hotpotqa", "2wikimqa", "musique"])
def test_the_development_files_load_and_their_supporting_titles_are_among_the_passages(task):
    path = DATA / f"{task}.dev.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"{path} is not there; STATERAG_DATA names the folder that holds longbench/")
    for example in islice(load_longbench(path), 10):
        context = example.query.collection.texts["context"]
        assert example.reference.supporting_titles
        assert all(supporting_passages(context, example.reference.supporting_titles))
