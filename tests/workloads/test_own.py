"""Anyone's questions: over a text in the row, or over files and folders beside the file."""

import pytest

from programs.documents.text import SkippedFile
from programs.errors import InputError
from programs.workloads.own import document_files, load_own
from tests.workloads.files import write, write_rows

TEXT = {"question": "Who mends?", "context": "Ida Holm mends the nets ✓\r\n"}


def load(folder, *rows):
    return list(load_own(write_rows(folder / "mine.jsonl", *rows)))


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "docs/a.md", "# Nets")
    write(tmp_path / "docs/inner/b.txt", "Knots")
    write(tmp_path / "docs/.hidden/c.md", "no")
    write(tmp_path / "one.rst", "One")
    return tmp_path


def test_a_question_may_bring_its_own_text_and_nothing_more(tmp_path):
    (example,) = load(tmp_path, TEXT)
    assert example.query.collection.texts == {"context": TEXT["context"]}
    assert (example.query.query_id, example.query.position) == ("line-1", 0)
    assert example.reference.answers == ()


def test_a_question_may_name_files_and_folders_from_the_files_own_place(folder):
    (example,) = load(folder, {"question": "What?", "documents": ["docs", "one.rst"], "answers": ["x"], "id": "mine"})
    assert example.query.collection.texts == {"a.md": "# Nets", "inner/b.txt": "Knots", "one.rst": "One"}
    assert (example.query.query_id, example.reference.answers) == ("mine", ("x",))


def test_rows_of_the_same_documents_or_the_same_text_share_one_collection(folder):
    def docs(*names):
        return {"question": "What?", "documents": list(names)}

    examples = load(folder, docs("docs"), TEXT, docs("docs/"), docs("docs", "one.rst"), docs("./docs"), TEXT)
    first, text, again, other, dotted, repeated = (example.query.collection for example in examples)
    assert first is again is dotted
    assert text is repeated
    assert other is not first
    assert [example.query.position for example in examples] == list(range(6))


def test_rows_of_longbenchs_shape_load_with_their_gold_passages(tmp_path):
    row = {"_id": "r1", "input": "Who?", "context": "Passage 1:\nNets\nIda.", "answers": ["Ida"], "length": 3}
    (example,) = load(tmp_path, {**row, "supporting_titles": ["Nets"], "question_type": "bridge"})
    (((gold,),),) = [example.reference.passages]
    assert example.query.collection.texts[gold.source_id][gold.start : gold.end] == "Nets\nIda."
    assert (example.query.query_id, example.reference.question_type) == ("r1", "bridge")


def test_an_id_may_be_a_number_and_a_row_without_one_is_called_by_its_line(tmp_path):
    examples = load(tmp_path, {**TEXT, "id": 7}, "", TEXT)
    assert [example.query.query_id for example in examples] == ["7", "line-3"]


def test_blank_answers_are_no_answers(tmp_path):
    examples = load(tmp_path, {**TEXT, "answers": []}, {**TEXT, "answers": [" "]}, {**TEXT, "answers": ["", "Ida"]})
    assert [example.reference.answers for example in examples] == [(), (), ("Ida",)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"context": "text"}, "question: Field required"),
        ({"question": "What?"}, '"context", a text, or "documents"'),
        ({**TEXT, "documents": ["docs"]}, '"context", a text, or "documents".*not both'),
        ({"question": "What?", "documents": []}, '"context", a text, or "documents"'),
        ({"question": "What?", "documents": "docs"}, "documents: .*list"),
        ({"question": "What?", "documents": ["nowhere"]}, "nowhere: no such file or folder"),
        ({"question": "What?", "documents": ["x" * 5000]}, "no such file or folder"),
        ({"question": "What?", "documents": ["a\0b"]}, "no such file or folder"),
        ({"question": "What?", "documents": ["mine.jsonl"]}, r"\.jsonl files are not read"),
        ({"question": "What?", "context": " "}, "context"),
        ({"question": " ", "context": "text"}, "the question is blank"),
        ({**TEXT, "answers": "Ida"}, "answers: .*list"),
        ({**TEXT, "id": ""}, "id"),
        ({**TEXT, "id": "line-1"}, "id 'line-1' is already on line 1"),
    ],
)
def test_a_malformed_row_is_an_error_with_the_file_and_the_line(folder, row, message):
    with pytest.raises(InputError, match=rf"mine\.jsonl, line 2: .*{message}"):
        load(folder, TEXT, row)


def test_the_files_of_the_documents_are_named_each_once_as_far_as_the_rows_are_taken(folder):
    rows = [{"question": "What?", "documents": names} for names in (["docs"], ["one.rst", "docs/a.md"])]
    path = write_rows(folder / "mine.jsonl", TEXT, *rows)
    assert document_files(path, 1) == ()
    assert document_files(path, 2) == (folder / "docs/a.md", folder / "docs/inner/b.txt")
    assert document_files(path) == (folder / "docs/a.md", folder / "docs/inner/b.txt", folder / "one.rst")


def test_the_named_files_are_those_that_the_collection_was_read_from(folder):
    write(folder / "docs/image.png", b"\x89PNG")
    (folder / "docs/loop").symlink_to(folder / "docs", target_is_directory=True)
    path = write_rows(folder / "mine.jsonl", {"question": "What?", "documents": ["docs"]})
    with pytest.warns(SkippedFile, match=r"image\.png"):
        (example,) = load_own(path)
    read = {file.relative_to(folder / "docs").as_posix() for file in document_files(path)}
    assert read == set(example.query.collection.texts)
