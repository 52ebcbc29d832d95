"""QASPER's own JSON: papers in order, their questions in order, and what each annotator said."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.errors import InputError
from programs.workloads.qasper_original import load_qasper_original
from tests.workloads.files import write_json


def said(**answer) -> dict:
    blank = {"unanswerable": False, "extractive_spans": [], "free_form_answer": "", "yes_no": None}
    evidence = {"evidence": ["A knot is tied."], "highlighted_evidence": []}
    return {"answer": {**blank, **evidence, **answer}, "annotation_id": "n", "worker_id": "w"}


def asked(question_id: str, *answers: dict) -> dict:
    return {"question": f"What of {question_id}?", "question_id": question_id, "answers": list(answers)}


def paper(*questions: dict, **rest) -> dict:
    sections = [
        {"section_name": "Introduction", "paragraphs": ["A knot is tied.", "", "A net is knots."]},
        {"section_name": None, "paragraphs": ["Ünnamed ✓."]},
        {"section_name": "Nets ::: Mending", "paragraphs": []},
    ]
    whole = {"title": "On knots", "abstract": "We tie.", "full_text": sections, "qas": list(questions)}
    return {**whole, "figures_and_tables": [], **rest}


def load(folder, papers):
    return list(load_qasper_original(write_json(folder / "qasper.json", papers)))


def test_a_paper_is_its_title_abstract_and_sections_under_their_headings(tmp_path):
    (example,) = load(tmp_path, {"1.2": paper(asked("q", said(yes_no=True)))})
    assert example.query.collection.texts == {
        "1.2": "On knots\n\nWe tie.\n\nIntroduction\nA knot is tied.\nA net is knots.\n\nÜnnamed ✓.\n\nNets ::: Mending"
    }


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (said(unanswerable=True), "Unanswerable"),
        (said(unanswerable=True, extractive_spans=["x"], yes_no=True), "Unanswerable"),
        (said(extractive_spans=["a knot", "a net"]), "a knot, a net"),
        (said(extractive_spans=["a knot"], free_form_answer="Knots."), "a knot"),
        (said(free_form_answer="They tie knots."), "They tie knots."),
        (said(free_form_answer="Yes, twice.", yes_no=True), "Yes, twice."),
        (said(yes_no=True), "Yes"),
        (said(yes_no=False), "No"),
    ],
)
def test_an_answer_is_written_as_the_datasets_own_scorer_writes_it(tmp_path, answer, text):
    (example,) = load(tmp_path, {"1": paper(asked("q", answer))})
    assert example.reference.answers == (text,)


def test_every_annotators_answer_is_a_reference_even_where_they_contradict(tmp_path):
    (example,) = load(
        tmp_path, {"1": paper(asked("q", said(yes_no=True), said(unanswerable=True), said(yes_no=False)))}
    )
    assert example.reference.answers == ("Yes", "Unanswerable", "No")


def test_questions_come_paper_by_paper_share_the_papers_collection_and_are_clustered_by_it(tmp_path):
    yes = said(yes_no=True)
    examples = load(tmp_path, {"9": paper(asked("b", yes), asked("a", yes)), "5": paper(), "1": paper(asked("c", yes))})
    assert [(e.query.query_id, e.query.position) for e in examples] == [("b", 0), ("a", 1), ("c", 2)]
    assert [e.reference.cluster for e in examples] == ["9", "9", "1"]
    assert examples[0].query.collection is examples[1].query.collection
    assert examples[0].query.collection is not examples[2].query.collection


@pytest.mark.parametrize(
    ("papers", "message"),
    [
        ({"1": paper(asked("q", said(yes_no=True), said()))}, "paper 1, question q: answer 2 says nothing"),
        ({"1": paper(asked("q", said(free_form_answer=" ")))}, "paper 1, question q: answer 1 says nothing"),
        ({"1": paper(asked("q"))}, r"1\.qas\.0\.answers"),
        (
            {"1": paper(asked("q", said(yes_no=True))), "2": paper(asked("q", said(yes_no=True)))},
            "paper 2, question q: the id is already in paper 1",
        ),
        ({"1": paper({**asked("q", said(yes_no=True)), "question": ""})}, "question q: the question is empty"),
        (
            {"1": paper(asked("q", said(yes_no=True)), title="", abstract=" ", full_text=[])},
            "question q: the paper has no text",
        ),
        ({"1": {**paper(), "full_text": "text"}}, r"1\.full_text"),
        ({"1": paper(asked("q", {"answer": {}}))}, r"1\.qas\.0\.answers\.0\.answer\.unanswerable: Field required"),
        ({"1": paper()}, "holds no questions"),
        ([paper()], "the value: .*dictionary"),
    ],
)
def test_a_fault_names_the_file_the_paper_and_the_question(tmp_path, papers, message):
    with pytest.raises(InputError, match=rf"qasper\.json.*{message}"):
        load(tmp_path, papers)


def test_a_file_that_was_cut_off_is_an_error(tmp_path):
    path = write_json(tmp_path / "qasper.json", {"1": paper(asked("q", said(yes_no=True)))})
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"qasper\.json: not JSON"):
        load_qasper_original(path)


text = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)


@given(
    title=text, abstract=text, sections=st.lists(st.tuples(st.none() | text, st.lists(text, max_size=3)), max_size=4)
)
def test_everything_that_a_paper_says_stands_in_its_source_in_order(tmp_path_factory, title, abstract, sections):
    whole = [{"section_name": name, "paragraphs": paragraphs} for name, paragraphs in sections]
    papers = {"1": paper(asked("q", said(yes_no=True)), title="T" + title, abstract=abstract, full_text=whole)}
    (example,) = load(tmp_path_factory.mktemp("paper"), json.loads(json.dumps(papers)))
    source, at = example.query.collection.texts["1"], 0
    for part in ["T" + title, abstract, *(p for name, paragraphs in sections for p in (name or "", *paragraphs))]:
        if part.strip():
            at = source.index(part, at) + len(part)
    assert at == len(source)
