"""Development questions: the only ones that a choice is made by, split for good."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimize import development
from optimize.development import open_development, workload_of
from programs.errors import InputError
from programs.workloads.registry import Workload, open_workload
from tests.optimize.parameter_world import write_longbench, write_tasks
from tests.support.runs import make_evaluation, make_workload
from tests.workloads.files import write_rows

BOTH = ["longbench/hotpotqa", "longbench/musique"]


@pytest.fixture
def data(tmp_path):
    return write_tasks(tmp_path, hotpotqa=40, musique=30)


def sides(found):
    return {example.query.query_id: "train" for example in found.train} | {
        example.query.query_id: "validation" for example in found.validation
    }


def test_questions_of_several_workloads_are_numbered_through_and_know_their_workload(data):
    found = open_development(BOTH, data, None, None, 0.5, 0)
    every = sorted([*found.train, *found.validation], key=lambda example: example.query.position)
    assert [example.query.position for example in every] == list(range(70))
    assert [workload_of(example) for example in every] == [BOTH[0]] * 40 + [BOTH[1]] * 30
    assert found.workloads == tuple(BOTH)


def test_both_sides_hold_about_their_share_of_each_workload(data):
    found = open_development(BOTH, data, None, None, 0.5, 0)
    for name, total in zip(BOTH, (40, 30), strict=True):
        share = sum(workload_of(example) == name for example in found.train) / total
        assert 0.25 < share < 0.75


@given(limit=st.integers(2, 30), seed=st.integers(0, 5), train=st.sampled_from([0.0, 0.3, 0.5]))
def test_a_question_stays_on_its_side_whatever_the_limit(tmp_path_factory, limit, seed, train):
    folder = tmp_path_factory.getbasetemp() / "limits"
    if not folder.exists():
        write_longbench(folder, "hotpotqa", 30)
    whole = sides(open_development(BOTH[:1], folder, None, None, train, seed))
    try:
        part = sides(open_development(BOTH[:1], folder, None, limit, train, seed))
    except InputError:
        assert "validation" not in [whole[f"hotpotqa-{number}"] for number in range(limit)]
        return
    assert len(part) == limit
    assert part.items() <= whole.items()


def test_another_seed_splits_otherwise_and_the_same_one_alike(data):
    first = open_development(BOTH, data, None, None, 0.5, 0)
    assert sides(open_development(BOTH, data, None, None, 0.5, 0)) == sides(first)
    assert sides(open_development(BOTH, data, None, None, 0.5, 1)) != sides(first)


def test_without_a_share_for_training_all_questions_choose(data):
    found = open_development(BOTH, data, None, None, 0.0, 0)
    assert (len(found.train), len(found.validation)) == (0, 70)


def test_questions_on_one_document_are_on_one_side(monkeypatch, tmp_path):
    monkeypatch.setattr(development, "open_workload", lambda *_: make_workload(queries=40, collections=8))
    found = open_development(["test"], tmp_path, None, None, 0.5, 3)
    train = {example.reference.cluster for example in found.train}
    assert train
    assert train.isdisjoint(example.reference.cluster for example in found.validation)


def test_the_digest_names_the_questions_their_references_and_the_split(data):
    def digest(**other):
        options = {"limit": 20, "train": 0.5, "seed": 0} | other
        return open_development(BOTH, data, None, options["limit"], options["train"], options["seed"]).digest

    first = digest()
    assert digest() == first
    changed = [digest(limit=21), digest(train=0.4), digest(seed=1)]
    path = data / "longbench" / "musique.dev.jsonl"
    path.write_text(path.read_text().replace('"answer 3"', '"another answer"'))
    changed.append(digest())
    assert len({first, *changed}) == 5


def test_what_was_seen_is_both_sides(data):
    found = open_development(BOTH, data, None, None, 0.5, 0)
    queries = [example.query for example in (*found.train, *found.validation)]
    assert len(found.seen.questions) == 70
    assert len(found.seen.meets(queries)) == 70


def test_I11_an_evaluation_file_can_not_be_opened_even_by_name(data):
    held_out = write_longbench(data, "hotpotqa", 5, split="eval")
    with pytest.raises(InputError, match="by its name an evaluation file"):
        open_development(BOTH[:1], None, held_out, None, 0.0, 0)


def test_I11_a_workload_that_says_it_is_of_another_split_is_refused(monkeypatch, tmp_path):
    def evaluation(*_) -> Workload:
        return replace(make_workload(queries=3), split="eval")

    monkeypatch.setattr(development, "open_workload", evaluation)
    with pytest.raises(InputError, match="nothing may be chosen by it"):
        open_development(["test"], tmp_path, None, None, 0.0, 0)


def test_I11_the_dev_split_is_what_is_asked_for(monkeypatch, data):
    asked = []

    def noting(name, folder, split, questions, limit):
        asked.append(split)
        return open_workload(name, folder, split, questions, limit)

    monkeypatch.setattr(development, "open_workload", noting)
    open_development(BOTH, data, None, None, 0.0, 0)
    assert asked == ["dev", "dev"]


def test_I11_a_locked_manifest_is_refused():
    evaluation = make_evaluation(queries=3)
    locked = replace(evaluation, workload=replace(evaluation.workload, split="eval")).manifest()
    with pytest.raises(InputError, match="locked manifest"):
        open_development(locked, None, None, None, 0.0, 0)


@pytest.mark.parametrize(
    ("workloads", "train", "message"),
    [([], 0.0, "at least one"), (BOTH, 1.0, "less than 1"), (BOTH, -0.1, "at least 0"), (["nowhere"], 0.0, "nowhere")],
)
def test_what_can_not_be_opened_is_said(data, workloads, train, message):
    with pytest.raises(InputError, match=message):
        open_development(workloads, data, None, None, train, 0)


def test_one_file_of_questions_is_of_one_workload(data, tmp_path):
    file = write_rows(tmp_path / "mine.jsonl")
    with pytest.raises(InputError, match="2 workloads"):
        open_development(BOTH, data, file, None, 0.0, 0)


def test_a_split_that_leaves_nothing_to_choose_by_is_refused(data):
    one_question = [(BOTH[:1], data, None, 1, 0.5, seed) for seed in range(60)]
    refused = []
    for arguments in one_question:
        try:
            open_development(*arguments)
        except InputError as error:
            refused.append(str(error))
    assert 10 < len(refused) < 50
    assert all("is left to choose by" in message for message in refused)
