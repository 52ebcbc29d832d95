"""The real files, where the data folder is there: every row loads, and gold passages are where they are said to be."""

import gzip

import pytest

from programs.errors import InputError
from programs.workloads.registry import open_workload
from tests.workloads.files import DATA, write

TASKS = ("hotpotqa", "2wikimqa", "musique")
COUNTS = {
    **{(f"longbench/{task}", split): 100 for task in TASKS for split in ("dev", "eval")},
    **{(f"corpus/{task}", split): n for task in TASKS for split, n in (("dev", 100), ("eval", 300))},
    ("qasper", "dev"): 147,
    ("qasper", "eval"): 288,
}
COLLECTIONS = {("qasper", "dev"): 40, ("qasper", "eval"): 80}

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"{DATA} is not there; STATERAG_DATA names the folder of real questions"
)


def opened(name, split):
    family = name.partition("/")[0]
    if not (DATA / family).is_dir():
        pytest.skip(f"{DATA} has no {family} folder")
    return open_workload(name, DATA, split)


@pytest.mark.parametrize(("name", "split"), COUNTS)
def test_every_question_loads_in_order_with_an_answer(name, split):
    workload = opened(name, split)
    assert len(workload.examples) == COUNTS[name, split]
    assert [e.query.position for e in workload.examples] == list(range(COUNTS[name, split]))
    assert all(e.reference.answers for e in workload.examples)


@pytest.mark.parametrize(("name", "split"), COLLECTIONS)
def test_questions_share_the_collection_of_their_paper(name, split):
    workload = opened(name, split)
    assert len({id(e.query.collection) for e in workload.examples}) == COLLECTIONS[name, split]
    assert len({e.reference.cluster for e in workload.examples}) == COLLECTIONS[name, split]


@pytest.mark.parametrize("task", TASKS)
def test_a_corpus_is_one_collection_of_thousands_and_all_gold_passages_are_known(task):
    examples = opened(f"corpus/{task}", "dev").examples
    assert len({id(e.query.collection) for e in examples}) == 1
    assert len(examples[0].query.collection) > 6000
    assert all(len(e.reference.supporting) >= 2 for e in examples)


@pytest.mark.parametrize("task", TASKS)
def test_every_supporting_title_of_longbench_rows_has_a_passage_that_begins_with_it(task):
    for example in opened(f"longbench/{task}", "dev").examples:
        texts = example.query.collection.texts
        assert len(example.reference.passages) >= 2
        for group in example.reference.passages:
            assert group
            assert all(texts[p.source_id].startswith(f"{p.title}\n") for p in group)
            assert all((p.start, p.end) == (0, len(texts[p.source_id])) for p in group)


@pytest.mark.parametrize(("split", "questions", "pages"), [("dev", 47, 12), ("eval", 139, 30)])
def test_docvqa_questions_load_once_their_pages_have_texts(tmp_path, split, questions, pages):
    source = DATA / f"docvqa/questions.{split}.jsonl.gz"
    if not source.is_file():
        pytest.skip(f"{source} is not there")
    write(tmp_path / f"questions.{split}.jsonl", gzip.decompress(source.read_bytes()))
    with pytest.raises(InputError, match="page images are not read yet"):
        open_workload("docvqa", tmp_path, split)
    for image in (DATA / "docvqa/pages").glob("*.png"):
        write(tmp_path / "pages" / f"{image.stem}.txt", "text")
    workload = open_workload("docvqa", tmp_path, split)
    assert len(workload.examples) == questions
    assert len({e.reference.cluster for e in workload.examples}) == pages
