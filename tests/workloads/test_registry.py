"""Workloads by name: where their files are looked for, and what is said when they are not there."""

from pathlib import Path

import pytest

from programs.errors import InputError
from programs.workloads.registry import NAMES, open_workload
from tests.workloads.files import write, write_json, write_rows


def asked(number: int, **rest) -> dict:
    return {"_id": f"q{number}", "input": f"What is {number}?", "answers": ["x"], **rest}


def longbench(path: Path, count: int = 1, start: int = 0) -> Path:
    return write_rows(path, *(asked(n, context="text") for n in range(start, start + count)))


def qasper(folder: Path, split: str = "dev") -> tuple[Path, Path]:
    questions = write_rows(folder / f"questions.{split}.jsonl", asked(1, paper_id="p"))
    return questions, write_rows(folder / f"papers.{split}.jsonl.gz", {"paper_id": "p", "text": split})


def corpus(folder: Path, task: str = "harbour", split: str = "dev") -> tuple[Path, Path]:
    queries = write_rows(folder / f"{task}.queries.{split}.jsonl.gz", asked(1, gold_passages=["p"]))
    return queries, write_rows(folder / f"{task}.passages.jsonl", {"passage_id": "p", "title": "t", "text": "x"})


def original_qasper(path: Path) -> Path:
    answer = {"unanswerable": True, "extractive_spans": [], "free_form_answer": "", "yes_no": None}
    question = {"question_id": "q", "question": "What?", "answers": [{"answer": answer}]}
    return write_json(path, {"p": {"title": "t", "abstract": "a", "full_text": [], "qas": [question]}})


@pytest.mark.parametrize(
    "place", ["longbench/musique.dev.jsonl", "longbench/musique.dev.jsonl.gz", "musique.dev.jsonl"]
)
def test_a_longbench_task_is_found_by_its_split_in_the_data_folder_or_its_own(tmp_path, place):
    path = longbench(tmp_path / place, 3)
    workload = open_workload("longbench/musique", tmp_path, "dev")
    assert (workload.name, workload.split, workload.files) == ("longbench/musique", "dev", (path,))
    assert [e.query.query_id for e in workload.examples] == ["q0", "q1", "q2"]


@pytest.mark.parametrize("place", ["hotpotqa.jsonl", "longbench/hotpotqa.jsonl.gz"])
def test_longbenchs_own_file_is_its_test_set_and_serves_eval_alone(tmp_path, place):
    path = longbench(tmp_path / place)
    assert open_workload("longbench/hotpotqa", tmp_path, "eval").files == (path,)
    with pytest.raises(InputError, match=r"longbench/hotpotqa: no file; looked at .*its test set and is read for eval"):
        open_workload("longbench/hotpotqa", tmp_path, "dev")


def test_a_file_with_the_split_in_its_name_goes_before_longbenchs_own(tmp_path):
    longbench(tmp_path / "hotpotqa.jsonl")
    path = longbench(tmp_path / "hotpotqa.eval.jsonl.gz")
    assert open_workload("longbench/hotpotqa", tmp_path, "eval").files == (path,)


def test_the_datasets_own_files_are_found_by_their_names_for_eval_alone(tmp_path):
    path = original_qasper(tmp_path / "qasper" / "qasper-test-v0.3.json")
    assert open_workload("qasper", tmp_path, "eval").files == (path,)
    entry = {"questionId": 1, "question": "What?", "image": "a.png", "answers": ["x"]}
    path = write_json(tmp_path / "docvqa" / "val_v1.0.json", {"data": [entry]})
    text = write(tmp_path / "docvqa" / "a.txt", "x")
    assert open_workload("docvqa", tmp_path, "eval").files == (path, text)
    for name in ("qasper", "docvqa"):
        with pytest.raises(InputError, match="no file"):
            open_workload(name, tmp_path, "dev")


@pytest.mark.parametrize("place", ["", "qasper"])
def test_qasper_reads_the_papers_beside_the_questions(tmp_path, place):
    files = qasper(tmp_path / place)
    qasper(tmp_path / place, "eval")
    workload = open_workload("qasper", tmp_path, "dev")
    assert workload.files == files
    assert workload.examples[0].query.collection.texts == {"p": "dev"}


def test_docvqa_names_the_page_texts_that_it_read_once_each(tmp_path):
    path = write_rows(tmp_path / "docvqa/questions.eval.jsonl", *(asked(n, page=f"a{n % 2}.png") for n in range(4)))
    texts = tuple(write(tmp_path / f"docvqa/a{n}.txt", "text") for n in range(2))
    assert open_workload("docvqa", tmp_path, "eval").files == (path, *texts)
    assert open_workload("docvqa", tmp_path, "eval", limit=1).files == (path, texts[0])


def test_a_corpus_is_called_what_its_files_are_called(tmp_path):
    files = corpus(tmp_path / "corpus")
    assert open_workload("corpus/harbour", tmp_path, "dev").files == files
    with pytest.raises(InputError, match=r"corpus/other: no file; looked at .*other\.queries\.dev\.jsonl"):
        open_workload("corpus/other", tmp_path, "dev")


def test_the_sample_is_a_dev_split_and_needs_no_data():
    workload = open_workload("sample", None, "dev")
    assert len(workload.examples) == 7
    assert len(workload.files) == 13
    assert all(file.is_file() for file in workload.files)
    with pytest.raises(InputError, match="dev split only"):
        open_workload("sample", None, "eval")
    with pytest.raises(InputError, match="'own'"):
        open_workload("sample", None, "dev", questions=Path("mine.jsonl"))


def test_own_questions_need_their_file_and_name_their_documents(tmp_path):
    document = write(tmp_path / "docs/a.md", "text")
    path = write_rows(tmp_path / "mine.jsonl", {"question": "What?", "documents": ["docs"]})
    assert open_workload("own", None, "eval", questions=path).files == (path, document)
    with pytest.raises(InputError, match="--questions"):
        open_workload("own", tmp_path, "dev")


def test_a_users_file_of_questions_is_read_by_the_loader_of_the_name_without_any_data_folder(tmp_path):
    write(tmp_path / "a.txt", "text")
    entry = {"questionId": 1, "question": "What?", "image": "a.png", "answers": ["x"]}
    given = {
        "longbench/2wikimqa": longbench(tmp_path / "official.jsonl"),
        "qasper": original_qasper(tmp_path / "qasper-test-v0.3.json"),
        "docvqa": write_json(tmp_path / "val_v1.0.JSON", {"data": [entry]}),
    }
    opened = {name: open_workload(name, None, "eval", questions=path) for name, path in given.items()}
    assert {name: workload.files[0] for name, workload in opened.items()} == given
    assert [workload.examples[0].query.query_id for workload in opened.values()] == ["q0", "q", "1"]


def test_a_users_file_goes_before_what_the_data_folder_holds(tmp_path):
    longbench(tmp_path / "musique.dev.jsonl")
    path = longbench(tmp_path / "mine.jsonl", start=5)
    workload = open_workload("longbench/musique", tmp_path, "dev", questions=path)
    assert workload.examples[0].query.query_id == "q5"


def test_a_users_questions_find_their_papers_and_passages_beside_them_or_in_the_data_folder(tmp_path):
    questions, papers = qasper(tmp_path / "data/qasper")
    queries, passages = corpus(tmp_path / "data/corpus")
    assert open_workload("qasper", None, "eval", questions=questions).files == (questions, papers)
    assert open_workload("corpus/harbour", None, "eval", questions=queries).files == (queries, passages)
    moved = write(tmp_path / "mine.jsonl", questions.read_bytes())
    assert open_workload("qasper", tmp_path / "data", "dev", questions=moved).files == (moved, papers)
    with pytest.raises(
        InputError, match=r"qasper: the papers of .*mine\.jsonl: no file; looked at .*papers\.dev\.jsonl"
    ):
        open_workload("qasper", None, "dev", questions=moved)


@pytest.mark.parametrize(
    "name", ["", "hotpot", "longbench", "longbench/", "longbench/narrativeqa", "qasper/", "own/x", "corpus", "corpus/",
             "corpus/a/b", "Sample"]
)  # fmt: skip
def test_an_unknown_name_is_an_error_that_lists_the_names(name):
    with pytest.raises(InputError, match=r"no workload is called .*longbench/hotpotqa, .*own") as caught:
        open_workload(name, None, "dev")
    assert all(known in str(caught.value) for known in NAMES)


def test_missing_files_are_an_error_that_names_the_places_looked_at(tmp_path):
    with pytest.raises(InputError, match="qasper: no file; looked at") as caught:
        open_workload("qasper", tmp_path, "dev")
    for place in ("qasper/questions.dev.jsonl", "qasper/questions.dev.jsonl.gz", "questions.dev.jsonl"):
        assert str(tmp_path / place) in str(caught.value)
    with pytest.raises(InputError, match="--data"):
        open_workload("qasper", None, "dev")
    with pytest.raises(InputError, match=r"nowhere\.jsonl: no such file"):
        open_workload("longbench/musique", None, "dev", questions=tmp_path / "nowhere.jsonl")


def test_a_limit_takes_the_first_questions_and_reads_no_further(tmp_path):
    path = longbench(tmp_path / "musique.dev.jsonl", 3)
    path.write_text(path.read_text() + "{broken")
    workload = open_workload("longbench/musique", tmp_path, "dev", limit=2)
    assert [e.query.position for e in workload.examples] == [0, 1]
    with pytest.raises(InputError, match="line 4"):
        open_workload("longbench/musique", tmp_path, "dev", limit=4)
    assert len(open_workload("sample", None, "dev", limit=100).examples) == 7


@pytest.mark.parametrize("limit", [0, -3])
def test_a_limit_that_leaves_nothing_is_an_error(limit):
    with pytest.raises(InputError, match=f"limit of {limit}"):
        open_workload("sample", None, "dev", limit=limit)
