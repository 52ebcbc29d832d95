"""QASPER splits: questions and papers joined by the paper's id."""

import pytest

from programs.errors import InputError
from programs.workloads.qasper import load_qasper
from tests.workloads.files import write_rows

PAPERS = [{"paper_id": "p1", "text": "On knots.\r\n\fA knot is tied ✓"}, {"paper_id": "p2", "text": "On nets."}]


def asked(number: int, paper: str = "p1", **rest) -> dict:
    return {"_id": f"q{number}", "paper_id": paper, "input": f"What is {number}?", "answers": ["a", "b"], **rest}


def load(folder, *questions, papers=PAPERS):
    return list(load_qasper(write_rows(folder / "q.jsonl", *questions), write_rows(folder / "p.jsonl.gz", *papers)))


def test_a_question_is_asked_of_its_paper_word_for_word_and_clustered_by_it(tmp_path):
    first, second = load(tmp_path, asked(1), asked(2, "p2"))
    assert first.query.collection.texts == {"p1": PAPERS[0]["text"]}
    assert second.query.collection.texts == {"p2": "On nets."}
    assert (first.reference.cluster, second.reference.cluster) == ("p1", "p2")
    assert first.reference.answers == ("a", "b")


def test_questions_on_one_paper_share_its_collection_even_when_others_come_between(tmp_path):
    examples = load(tmp_path, asked(1), asked(2, "p2"), asked(3), asked(4, "p2"))
    one, two, three, four = (example.query.collection for example in examples)
    assert one is three
    assert two is four
    assert [example.query.position for example in examples] == [0, 1, 2, 3]


def test_a_paper_that_is_not_there_is_an_error_with_the_file_and_the_line(tmp_path):
    with pytest.raises(InputError, match=r"q\.jsonl, line 2: paper_id 'p3' is not in .*p\.jsonl\.gz; add the paper"):
        load(tmp_path, asked(1), asked(2, "p3"))


def test_a_paper_that_comes_twice_or_is_blank_is_an_error_of_the_papers(tmp_path):
    with pytest.raises(InputError, match=r"p\.jsonl\.gz, line 3: id 'p1' is already on line 1"):
        load(tmp_path, asked(1), papers=[*PAPERS, PAPERS[0]])
    with pytest.raises(InputError, match=r"p\.jsonl\.gz, line 1: text"):
        load(tmp_path, asked(1), papers=[{"paper_id": "p1", "text": " \n"}])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (asked(1), "id 'q1' is already on line 1"),
        (asked(2, answers=[]), "answers"),
        (asked(2, input=" "), "the question is blank"),
        ({"_id": "q2", "input": "What?", "answers": ["a"]}, "paper_id: Field required"),
    ],
)
def test_a_malformed_question_is_an_error_with_the_file_and_the_line(tmp_path, row, message):
    with pytest.raises(InputError, match=rf"q\.jsonl, line 2: {message}"):
        load(tmp_path, asked(1), row)


def test_a_paper_that_nobody_asks_about_does_no_harm(tmp_path):
    assert [example.query.query_id for example in load(tmp_path, asked(1))] == ["q1"]
