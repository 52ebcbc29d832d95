"""The reader of rows: what is read, and how each fault of a file is said, for every loader at once."""

import gzip
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.errors import InputError
from programs.workloads.corpus import load_corpus
from programs.workloads.docvqa import load_docvqa, load_docvqa_original
from programs.workloads.longbench import load_longbench
from programs.workloads.own import load_own
from programs.workloads.qasper import load_qasper
from programs.workloads.qasper_original import load_qasper_original
from programs.workloads.rows import QuestionRow, read_json, read_rows, said_of
from tests.workloads.files import write, write_json, write_rows

ROW = {"_id": "r1", "input": "Who mends the nets?", "answers": ["Ida Holm"], "length": 12, "all_classes": None}
text = st.text(st.characters(blacklist_categories=["Cs"]))
said = text.filter(str.strip)


def rows(path):
    return list(read_rows(path, QuestionRow))


def test_a_row_comes_with_its_id_and_its_place_and_fields_that_are_not_read_do_no_harm(tmp_path):
    path = write_rows(tmp_path / "t.jsonl", ROW)
    (line,) = rows(path)
    assert (line.key, line.where, line.row.question) == ("r1", f"{path}, line 1", "Who mends the nets?")
    assert line.row.question_type is None


@given(
    st.lists(
        st.fixed_dictionaries(
            {"_id": said, "input": text, "answers": st.lists(text).map(lambda given: ["x", *given])},
            optional={"question_type": st.none() | text},
        ),
        min_size=1,
        unique_by=lambda row: row["_id"],
    ),
    st.booleans(),
    st.booleans(),
)
def test_any_rows_come_back_as_they_were_written_packed_or_plain_escaped_or_not(
    tmp_path_factory, written, packed, escaped
):
    data = "\n".join(json.dumps(row, ensure_ascii=escaped) for row in written).encode()
    path = write(tmp_path_factory.mktemp("rows") / "t.jsonl", gzip.compress(data) if packed else data)
    read = [line.row.model_dump(by_alias=True) for line in rows(path)]
    assert read == [{"question_type": None, **row} for row in written]


def test_blank_lines_are_left_out_and_count_as_lines(tmp_path):
    path = write_rows(tmp_path / "t.jsonl", "", ROW, "  ", {**ROW, "_id": "r2"})
    assert [line.where for line in rows(path)] == [f"{path}, line 2", f"{path}, line 4"]


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(tmp_path):
    path = write(tmp_path / "t.jsonl", b"\xef\xbb\xbf" + json.dumps(ROW).encode() + b"\r\n")
    assert [line.key for line in rows(path)] == ["r1"]


def test_rows_are_read_one_at_a_time_so_a_later_fault_does_not_hide_the_rows_before_it(tmp_path):
    lines = read_rows(write_rows(tmp_path / "t.jsonl", ROW, "{"), QuestionRow)
    assert next(lines).key == "r1"
    with pytest.raises(InputError, match="line 2"):
        next(lines)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"_id": "x", ', "not JSON in UTF-8"),
        ("[" * 100_000, "not JSON in UTF-8"),
        ("9" * 10_000, "not JSON in UTF-8"),
        ("\x00\x01\x02", "not JSON in UTF-8"),
        ("[1, 2]", "the value: .*dictionary"),
        ("null", "the value: .*dictionary"),
        ({"_id": "r2", "answers": ["x"]}, "input: Field required"),
        ({**ROW, "_id": "r2", "answers": []}, "answers: .*no answer"),
        ({**ROW, "_id": "r2", "answers": ["", " "]}, "answers: .*only blank"),
        ({**ROW, "_id": "r2", "answers": "Ida Holm"}, "answers: .*list.*got 'Ida Holm'"),
        ({**ROW, "_id": "r2", "answers": ["Ida", 7]}, "answers.1: .*string.*got '7'"),
        ({**ROW, "_id": "r2", "answers": ["lone \ud800 surrogate"]}, r"not JSON in UTF-8: .*'\\ud800'"),
        ({**ROW, "_id": "r2", "\udfff": 1}, "not JSON in UTF-8"),
        ({**ROW, "_id": "r2", "input": None}, "input: .*string"),
        ({**ROW, "_id": 7}, "_id: .*string"),
        ({**ROW, "_id": " "}, "_id"),
        (ROW, "id 'r1' is already on line 1; ids must differ"),
    ],
)
def test_a_malformed_row_is_an_error_with_the_file_the_line_and_the_field(tmp_path, row, message):
    path = write_rows(tmp_path / "broken.jsonl", ROW, row)
    with pytest.raises(InputError, match=rf"broken\.jsonl, line 2: {message}") as caught:
        rows(path)
    assert len(str(caught.value)) < 500 + len(str(path))
    str(caught.value).encode("utf-8")


def test_a_byte_that_is_not_utf8_is_an_error_with_its_line(tmp_path):
    path = write(tmp_path / "t.jsonl", json.dumps(ROW).encode() + b'\n{"_id": "\xff"}\n')
    with pytest.raises(InputError, match="line 2: not JSON in UTF-8"):
        rows(path)


def test_an_escaped_pair_of_halves_is_one_character(tmp_path):
    (line,) = rows(write_rows(tmp_path / "t.jsonl", {**ROW, "input": "Where is 🛟?"}))
    assert line.row.question == "Where is 🛟?"


def test_a_fault_found_further_in_is_said_of_its_place():
    with pytest.raises(InputError, match=r"^f, line 3: the question is empty$"), said_of("f, line 3"):
        raise InputError("the question is empty")


def every_loader():
    def beside(load, name, *rest):
        return lambda path: load(path, write_rows(path.parent / name, *rest))

    paper = {"paper_id": "p", "text": "t"}
    passage = {"passage_id": "p", "title": "t", "text": "t"}
    return {
        "longbench": load_longbench,
        "qasper questions": beside(load_qasper, "papers", paper),
        "qasper papers": lambda path: load_qasper(
            write_rows(path.parent / "questions", {**ROW, "paper_id": "p"}), path
        ),
        "qasper original": load_qasper_original,
        "docvqa": load_docvqa,
        "docvqa original": load_docvqa_original,
        "corpus queries": lambda path: load_corpus(write_rows(path.parent / "passages", passage), path),
        "corpus passages": beside(load_corpus, "queries", ROW),
        "own": load_own,
    }


LOADERS = pytest.mark.parametrize("load", every_loader().values(), ids=every_loader().keys())


@LOADERS
def test_every_loader_names_a_file_that_is_missing_before_anything_is_taken_from_it(tmp_path, load):
    with pytest.raises(InputError, match=r"nowhere\.jsonl: no such file; name"):
        load(tmp_path / "nowhere.jsonl")
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path)


@LOADERS
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"\x89PNG\r\n\x1a\n\x00\x00\xff",
        b"plain text",
        b'{"name": "x"}',
        b"[]",
        b"{}",
        gzip.compress(b""),
        gzip.compress(os.urandom(5000))[:-100],
        b"\x1f\x8b",
        b"\x1f\x8b" + bytes(range(100)),
    ],
    ids=["empty", "blank", "image", "text", "schema", "list", "object", "packed empty", "cut gzip", "magic", "no gzip"],
)
def test_every_loader_refuses_a_file_of_something_else_by_its_name(tmp_path, load, data):
    path = write(tmp_path / "junk.jsonl", data)
    with pytest.raises(InputError, match=r"junk\.jsonl"):
        list(load(path))


def test_a_gzip_file_that_was_cut_off_is_an_error_and_not_a_shorter_workload(tmp_path):
    lines = [json.dumps({**ROW, "_id": f"r{n}", "input": os.urandom(500).hex()}) for n in range(50)]
    path = write(tmp_path / "t.jsonl.gz", gzip.compress("\n".join(lines).encode())[:-200])
    with pytest.raises(InputError, match=r"gzip data is damaged after line .*copy it again"):
        rows(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read anything")
def test_a_file_that_may_not_be_read_is_said(tmp_path):
    path = write_rows(tmp_path / "t.jsonl", ROW)
    path.chmod(0)
    with pytest.raises(InputError, match="can't be read"):
        rows(path)


def test_one_value_is_read_packed_or_plain_over_any_number_of_lines(tmp_path):
    plain = write_json(tmp_path / "t.json", ROW)
    packed = write(tmp_path / "p.json", gzip.compress(plain.read_bytes()))
    assert len(plain.read_text().splitlines()) > 5
    assert read_json(packed, QuestionRow) == read_json(plain, QuestionRow)
