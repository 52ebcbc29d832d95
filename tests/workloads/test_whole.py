"""A workload over whole texts: what LongBench's rows are to a method that cuts windows across passages."""

from __future__ import annotations

import pytest

from programs.errors import InputError
from programs.workloads.hashes import seen_of
from programs.workloads.registry import open_workload
from programs.workloads.unanswerable import without_support
from tests.workloads.files import write_rows

CONTEXT = (
    "Passage 1:\nHeron\nA bird.\nPassage 2:\nFerry\nA boat.\nPassage 3:\nHeron\nA ship.\nPassage 4:\nDome\nA roof.\n"
)
ROW = {
    "_id": "q",
    "input": "What is a heron?",
    "context": CONTEXT,
    "answers": ["a bird"],
    "supporting_titles": ["Heron", "Heron", "Ferry"],
}


@pytest.fixture
def opened(tmp_path):
    write_rows(tmp_path / "hotpotqa.dev.jsonl", ROW)
    return lambda ending="": open_workload(f"longbench/hotpotqa{ending}", tmp_path, "dev")


def test_the_whole_text_is_one_source_and_gold_is_where_it_stands_there(opened):
    workload = opened("/whole")
    (example,) = workload.examples
    assert workload.name == "longbench/hotpotqa/whole"
    assert example.query.collection.texts == {"context": CONTEXT}
    gold = [[CONTEXT[p.start : p.end] for p in group] for group in example.reference.passages]
    assert gold == [["Heron\nA bird.", "Heron\nA ship."]] * 2 + [["Ferry\nA boat."]]


def test_both_are_the_same_to_what_a_selection_has_seen(opened):
    """Passages recur in all splits of a benchmark: it is the row that an evaluation must not share."""
    passages, whole = opened().examples, opened("/whole").examples
    assert seen_of(example.query for example in passages) == seen_of(example.query for example in whole)
    assert len(seen_of(example.query for example in passages).sources) == 1


def test_needed_passages_are_gone_from_the_sources_and_from_the_whole(opened):
    (left,) = opened("/unanswerable").examples
    (whole,) = opened("/whole/unanswerable").examples
    collection = left.query.collection
    assert collection.texts == {"passage-4": "Dome\nA roof."}
    assert whole.query.collection.texts == {"context": collection.cut_from.text}
    assert "A bird" not in collection.cut_from.text
    assert left.reference == whole.reference == without_support(opened().examples[0]).reference


def test_sources_that_are_no_passages_of_a_text_are_refused():
    with pytest.raises(InputError, match="no passages of one text"):
        open_workload("sample/whole", None, "dev")
