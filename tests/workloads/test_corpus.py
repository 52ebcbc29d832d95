"""A corpus: one collection for all questions, and gold passages that are in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.errors import InputError
from programs.workloads.corpus import load_corpus
from tests.workloads.files import write_rows

PASSAGES = [{"passage_id": f"p{n}", "title": f"Títle {n}", "text": f"Text {n} ✓"} for n in range(3)]


def asked(number: int, gold=("p2", "p0"), **rest) -> dict:
    row = {"_id": f"q{number}", "input": f"What is {number}?", "answers": ["x"], "gold_passages": list(gold)}
    return {**row, "question_type": "bridge", **rest}


def load(folder, *queries, passages=PASSAGES):
    corpus = write_rows(folder / "t.passages.jsonl.gz", *passages)
    return list(load_corpus(corpus, write_rows(folder / "t.queries.jsonl", *queries)))


def test_all_questions_share_one_collection_of_titled_passages_in_file_order(tmp_path):
    first, second = load(tmp_path, asked(1), asked(2))
    assert first.query.collection is second.query.collection
    assert first.query.collection.texts == {f"p{n}": f"Títle {n}\nText {n} ✓" for n in range(3)}
    assert list(first.query.collection.texts) == ["p0", "p1", "p2"]
    assert [first.query.position, second.query.position] == [0, 1]


def test_gold_passages_are_the_supporting_sources_in_order_each_once(tmp_path):
    (example,) = load(tmp_path, asked(1, ["p2", "p0", "p2"]))
    assert example.reference.supporting == ("p2", "p0")
    assert (example.reference.question_type, example.reference.cluster) == ("bridge", None)


def test_a_question_without_gold_passages_has_no_supporting_sources(tmp_path):
    row = {key: value for key, value in asked(1).items() if key != "gold_passages"}
    assert load(tmp_path, row)[0].reference.supporting == ()


def test_a_gold_passage_that_is_not_in_the_corpus_is_an_error_with_the_file_and_the_line(tmp_path):
    message = r"t\.queries\.jsonl, line 2: gold passage 'p9' is not in .*t\.passages\.jsonl\.gz"
    with pytest.raises(InputError, match=message):
        load(tmp_path, asked(1), asked(2, ["p0", "p9"]))


@pytest.mark.parametrize(
    ("passage", "message"),
    [
        (PASSAGES[0], "id 'p0' is already on line 1"),
        ({"passage_id": "p3", "title": "t"}, "text: Field required"),
        ({"passage_id": "p3", "title": "t", "text": " "}, "text"),
        ({"passage_id": "p3", "title": None, "text": "x"}, "title"),
    ],
)
def test_a_malformed_passage_is_an_error_with_its_line(tmp_path, passage, message):
    with pytest.raises(InputError, match=rf"t\.passages\.jsonl\.gz, line 4: {message}"):
        load(tmp_path, asked(1), passages=[*PASSAGES, passage])


def test_a_malformed_question_is_an_error_with_its_line(tmp_path):
    with pytest.raises(InputError, match=r"t\.queries\.jsonl, line 2: the question is empty"):
        load(tmp_path, asked(1), asked(2, input=""))


text = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)


@given(st.dictionaries(text.filter(str.strip), st.tuples(text, text.filter(str.strip)), min_size=1, max_size=5))
def test_any_corpus_comes_back_passage_by_passage(tmp_path_factory, corpus):
    rows = [{"passage_id": key, "title": title, "text": body} for key, (title, body) in corpus.items()]
    (example,) = load(tmp_path_factory.mktemp("corpus"), asked(1, list(corpus)), passages=rows)
    assert example.query.collection.texts == {key: f"{title}\n{body}" for key, (title, body) in corpus.items()}
    assert example.reference.supporting == tuple(corpus)
