"""DocVQA: questions on pages whose text stands beside their images."""

import gzip

import pytest

from programs.errors import InputError
from programs.workloads.docvqa import load_docvqa, load_docvqa_original, page_text_file
from tests.workloads.files import write, write_json, write_rows


def row(number: int, page: str = "pages/a_1.png", **rest) -> dict:
    return {"_id": f"q{number}", "page": page, "input": f"What is {number}?", "answers": ["$1", "1"], **rest}


def entry(number: int, image: str = "pages/a_1.png", **rest) -> dict:
    whole = {"questionId": number, "question": f"What is {number}?", "image": image, "answers": ["$1", "1"]}
    return {**whole, "docId": 1, "ucsf_document_id": "a", "ucsf_document_page_no": "1", "data_split": "val", **rest}


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "pages/a_1.txt", "Total\r\n  $1 ✓\n")
    write(tmp_path / "pages/b.2.txt", "Date: 1 May")
    return tmp_path


def lines(folder, *rows):
    return list(load_docvqa(write_rows(folder / "questions.dev.jsonl.gz", *rows)))


def official(folder, *entries):
    value = {"dataset_name": "docvqa", "dataset_split": "val", "data": list(entries)}
    return list(load_docvqa_original(write_json(folder / "val_v1.0.json", value)))


def test_a_question_is_asked_of_the_text_beside_its_page_and_clustered_by_the_page(folder):
    first, second = lines(folder, row(1, question_type="form"), row(2, "pages/b.2.png"))
    assert first.query.collection.texts == {"pages/a_1.png": "Total\r\n  $1 ✓\n"}
    assert second.query.collection.texts == {"pages/b.2.png": "Date: 1 May"}
    assert (first.reference.cluster, first.reference.question_type) == ("pages/a_1.png", "form")
    assert first.reference.answers == ("$1", "1")


def test_the_datasets_own_file_gives_the_same_questions_of_the_same_texts(folder):
    examples = official(
        folder, entry(1, question_types=["form", "handwritten"]), entry(2, "pages/b.2.png"), entry(3, question_types=[])
    )
    assert [(e.query.query_id, e.query.position) for e in examples] == [("1", 0), ("2", 1), ("3", 2)]
    assert [e.reference.question_type for e in examples] == ["form, handwritten", None, None]
    assert examples[1].query.collection.texts == {"pages/b.2.png": "Date: 1 May"}
    assert examples[0].query.collection is examples[2].query.collection


def test_questions_on_one_page_share_its_collection_even_when_others_come_between(folder):
    examples = lines(folder, row(1), row(2, "pages/b.2.png"), row(3))
    assert examples[0].query.collection is examples[2].query.collection
    assert [e.query.position for e in examples] == [0, 1, 2]


def test_a_packed_file_of_the_dataset_loads(folder):
    path = write(folder / "val.json.gz", gzip.compress(write_json(folder / "v", {"data": [entry(1)]}).read_bytes()))
    assert [e.query.query_id for e in load_docvqa_original(path)] == ["1"]


@pytest.mark.parametrize("load", [lines, official])
def test_a_page_without_text_is_an_error_that_names_the_page_the_place_and_what_to_do(folder, load):
    make = row if load is lines else entry
    message = r"page pages/c\.png has no text: .*pages/c\.txt is not there; page images are not read yet, so write"
    with pytest.raises(InputError, match=rf"(line 2|data\.1): {message}"):
        load(folder, make(1), make(2, "pages/c.png"))


@pytest.mark.parametrize(("data", "message"), [(b" \n", "is blank"), (b"\xc3\xa9\xff", "not UTF-8"), (b"a\0", "NUL")])
def test_a_page_whose_text_is_no_text_is_an_error_with_the_question_that_needs_it(folder, data, message):
    write(folder / "pages/c.txt", data)
    with pytest.raises(InputError, match=rf"questions\.dev\.jsonl\.gz, line 1: .*c\.txt.*{message}"):
        lines(folder, row(1, "pages/c.png"))


@pytest.mark.parametrize("page", ["", ".", "/", "x" * 5000 + ".png", "a\0b.png"])
def test_a_page_that_can_be_no_file_is_an_error_with_its_line(folder, page):
    with pytest.raises(InputError, match=r"line 1: .*page"):
        lines(folder, row(1, page))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([entry(1), entry(1)], r"data\.1: questionId 1 is already in data\.0"),
        ([entry(1), entry(2, answers=[])], r"data\.1\.answers"),
        ([{**entry(1), "questionId": "1"}], r"data\.0\.questionId"),
        ([entry(1, question=" ")], r"data\.0: the question is blank"),
        ([], "data: .*at least 1"),
    ],
)
def test_a_fault_in_the_datasets_own_file_names_its_entry(folder, entries, message):
    with pytest.raises(InputError, match=rf"val_v1\.0\.json.*{message}"):
        official(folder, *entries)


def test_a_repeated_id_is_an_error_with_both_lines(folder):
    with pytest.raises(InputError, match="line 2: id 'q1' is already on line 1"):
        lines(folder, row(1), row(1))


def test_a_text_is_looked_for_by_the_images_name_without_its_last_suffix(tmp_path):
    assert page_text_file(tmp_path / "q.jsonl", "pages/b.2.png") == tmp_path / "pages/b.2.txt"
