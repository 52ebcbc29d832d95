"""Whatever a file of questions holds, loading it gives examples or says what is wrong, where."""

from __future__ import annotations

import gzip
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from programs import run
from programs.errors import InputError
from programs.workloads import rows
from programs.workloads.corpus import load_corpus
from programs.workloads.docvqa import load_docvqa, load_docvqa_original
from programs.workloads.longbench import load_longbench
from programs.workloads.manifest import read_manifest
from programs.workloads.own import load_own
from programs.workloads.qasper import load_qasper
from programs.workloads.qasper_original import load_qasper_original
from tests.support.examples import fuzzed
from tests.support.mutations import hostile, taken_or_refused, written
from tests.support.runs import make_evaluation
from tests.workloads.files import write, write_rows

QUESTION = {"_id": "r1", "input": "Who mends the nets?", "answers": ["Ida Holm", "Ida"], "question_type": "bridge"}
CONTEXT = {"context": "Passage 1:\nNets\nIda mends.\nPassage 2:\nKnots\nNo.", "supporting_titles": ["Nets"]}
LONGBENCH = {**QUESTION, **CONTEXT, "length": 12, "dataset": "x", "language": "en", "all_classes": None}
PAPER = {"paper_id": "p1", "text": "A paper on nets."}
PASSAGE = {"passage_id": "g1", "title": "Nets", "text": "Ida mends."}
ANSWER = {"unanswerable": False, "extractive_spans": ["Ida"], "free_form_answer": "", "yes_no": None, "evidence": []}
QASPER = {
    "p1": {
        "title": "Nets",
        "abstract": "On nets.",
        "full_text": [{"section_name": "One", "paragraphs": ["Ida mends."]}],
        "qas": [{"question_id": "q1", "question": "Who?", "answers": [{"answer": ANSWER, "annotation_id": "x"}]}],
    }
}
DOCVQA = {
    "dataset_name": "x",
    "data": [
        {"questionId": 7, "question": "Who?", "image": "page.png", "answers": ["Ida"], "question_types": ["text"]}
    ],
}
OWN = [
    {"id": 1, "question": "Who?", "answers": ["Ida"], "context": "Ida mends."},
    {"question": "Who?", "documents": ["note.md", "folder"]},
    LONGBENCH,
]


def two(row, **changes):
    return [row, {**row, **changes}]


def beside(load, name, *rows):
    return lambda path: load(path, write_rows(path.parent / name, *rows))


FORMATS = {
    "longbench": (two(LONGBENCH, _id="r2"), load_longbench),
    "qasper": (two({**QUESTION, "paper_id": "p1"}, _id="r2"), beside(load_qasper, "papers", PAPER)),
    "papers": (
        two(PAPER, paper_id="p2"),
        lambda path: load_qasper(write_rows(path.parent / "asked", {**QUESTION, "paper_id": "p1"}), path),
    ),
    "qasper original": (QASPER, load_qasper_original),
    "docvqa": (two({**QUESTION, "page": "page.png"}, _id="r2"), load_docvqa),
    "docvqa original": (DOCVQA, load_docvqa_original),
    "corpus": (
        two({**QUESTION, "gold_passages": ["g1"]}, _id="r2"),
        lambda path: load_corpus(write_rows(path.parent / "passages", PASSAGE), path),
    ),
    "passages": (two(PASSAGE, passage_id="g2"), beside(load_corpus, "queries", {**QUESTION, "gold_passages": ["g1"]})),
    "own": (OWN, load_own),
}
EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)


def valid(name):
    content = FORMATS[name][0]
    return written(content) if isinstance(content, dict) else b"".join(written(row) + b"\n" for row in content)


def folder_of(tmp_path_factory):
    folder = tmp_path_factory.mktemp("w")
    write(folder / "page.txt", "Ida mends.")
    write(folder / "note.md", "Ida mends.")
    write(folder / "folder/more.md", "Nets.")
    return folder


@EVERY_FORMAT
def test_the_file_that_the_others_are_made_from_loads(tmp_path_factory, name):
    assert list(FORMATS[name][1](write(folder_of(tmp_path_factory) / "f", valid(name))))


@EVERY_FORMAT
@fuzzed(60)
@given(data=st.data())
def test_a_file_with_anything_changed_is_loaded_or_refused_by_its_name(tmp_path_factory, name, data):
    is_lines = isinstance(FORMATS[name][0], list)
    path = write(folder_of(tmp_path_factory) / "f.jsonl", data.draw(hostile(valid(name), is_lines, packed=True)))
    said = taken_or_refused(lambda: list(FORMATS[name][1](path)))
    assert said is None or str(path.parent) in said


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"anwsers": ["Ida"]}, "no field 'anwsers'; did you mean 'answers'"),
        ({"answer": ["Ida"]}, "no field 'answer'; did you mean 'answers'"),
        ({"documnets": ["a.md"]}, "no field 'documnets'; did you mean 'documents'"),
        ({"suporting_titles": ["x"]}, "did you mean 'supporting_titles'"),
        ({"notes": "mine"}, "no field 'notes'; there are .*answers, context, documents"),
        ({"x" * 10**6: 1}, "no field 'xxx"),
    ],
)
def test_a_field_of_own_questions_that_nobody_knows_is_refused(tmp_path, row, said):
    path = write_rows(tmp_path / "mine.jsonl", {"question": "Who?", "context": "Ida.", **row})
    with pytest.raises(InputError, match=rf"mine\.jsonl, line 1: the value: .*{said}") as caught:
        list(load_own(path))
    assert len(str(caught.value)) < 1000 + len(str(path))


def test_rows_of_other_formats_may_say_more_but_not_one_of_our_fields_mistyped(tmp_path):
    more = {**LONGBENCH, "source": "x", "answer": "Ida", "level": "hard"}
    assert list(load_longbench(write_rows(tmp_path / "a.jsonl", more)))
    mistyped = {**LONGBENCH, "suporting_titles": LONGBENCH["supporting_titles"]}
    del mistyped["supporting_titles"]
    with pytest.raises(InputError, match=r"line 1: .*did you mean 'supporting_titles'"):
        list(load_longbench(write_rows(tmp_path / "b.jsonl", mistyped)))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"answers": ["x"] * 10**6}, "answers: List should have at most 1000 items"),
        ({"answers": ["x" * 10**6]}, r"answers\.0: .*at most 20000 characters"),
        ({"input": "x" * 100_000}, "the question has 100,000 characters and the limit is 20,000"),
        ({"_id": "x" * 10_000}, "the id has 10,000 characters"),
        ({"answers": 7}, r"answers: .*list \(got '7'\)"),
        ({"answers": "7"}, r"answers: .*list \(got '7'\)"),
        ({"answers": [7]}, r"answers\.0: .*string \(got '7'\)"),
        ({"answers": {"text": ["Ida"]}}, "answers: .*list"),
        ({"length": float("nan")}, "not JSON in UTF-8: NaN is no JSON; write null"),
        ({"length": float("-inf")}, "not JSON in UTF-8: -Infinity is no JSON; write null"),
        ({"answers": "@nested@"}, r"answers\.0: .*string"),
    ],
)
def test_absurd_rows_are_refused_with_the_file_and_the_line(tmp_path, row, said):
    lines = [written(LONGBENCH), written({**LONGBENCH, "_id": "r2", **row})]
    path = write(tmp_path / "t.jsonl", b"\n".join(lines))
    with pytest.raises(InputError, match=rf"t\.jsonl, line 2: {said}"):
        list(load_longbench(path))


def test_a_gzip_file_that_unpacks_without_end_is_given_up(tmp_path):
    bomb = gzip.compress(b"0" * (rows.LONGEST + 10), 1)
    assert len(bomb) < 10**6
    for load in (load_longbench, load_own):
        with pytest.raises(InputError, match=r"line 1: longer than 33,554,432 bytes"):
            list(load(write(tmp_path / "bomb.jsonl", bomb)))


@pytest.mark.parametrize("load", [load_own, load_qasper_original, load_docvqa_original])
def test_many_lines_that_unpack_to_more_than_questions_are_given_up(tmp_path, monkeypatch, load):
    monkeypatch.setattr(rows, "MOST_PACKED", 10**6)
    monkeypatch.setattr(rows, "LARGEST", 10**6)
    bomb = gzip.compress(b" \n" * 10**6)
    with pytest.raises(InputError, match=r"holds more than 1,000,000 bytes, which no file of questions does"):
        list(load(write(tmp_path / "bomb.gz", bomb)))


def test_a_question_of_any_length_is_exit_code_2_and_no_traceback(tmp_path):
    note = write(tmp_path / "note.md", "Ida mends.")
    done = CliRunner().invoke(run.app, ["ask", "x" * 100_000, "--docs", str(note), "--compiled", "none"])
    assert (done.exit_code, "limit is 20,000" in done.stderr) == (2, True)
    path = write_rows(tmp_path / "mine.jsonl", {"question": "x" * 100_000, "context": "Ida."})
    given = ["eval", "--method", "vanilla", "--workload", "own", "--questions", str(path)]
    done = CliRunner().invoke(run.app, given)
    assert (done.exit_code, "line 1: the question has 100,000" in done.stderr) == (2, True)


@fuzzed(150)
@given(data=st.data())
def test_a_manifest_with_anything_changed_is_read_or_refused(tmp_path_factory, data):
    manifest = make_evaluation("vanilla", queries=2, collections=1).manifest()
    path = tmp_path_factory.mktemp("m") / "manifest.json"
    path.write_bytes(data.draw(hostile(manifest.model_dump_json().encode())))

    def read():
        found = read_manifest(path)
        assert found.digest
        assert found.questions.digest
        assert [(entry.answers, entry.reader_budget) for entry in found.methods]

    taken_or_refused(read)


def test_a_manifest_that_can_not_be_read_is_said(tmp_path):
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(InputError, match=r"manifest\.json: can't be read"):
        read_manifest(tmp_path / "manifest.json")
    with pytest.raises(InputError, match="no run"):
        read_manifest(tmp_path / "nowhere/manifest.json")


def test_a_file_of_random_bytes_is_refused_in_every_format(tmp_path):
    for name, (_, load) in FORMATS.items():
        path = write(tmp_path / name, os.urandom(4096))
        with pytest.raises(InputError):
            list(load(path))
    assert json.loads(valid("docvqa original"))
