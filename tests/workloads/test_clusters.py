"""Questions that share documents stand and fall together, and are drawn together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metrics.significance import interval
from programs.documents.collection import Collection, Source
from programs.workloads.clusters import with_clusters
from programs.workloads.query import Example, Query, Reference
from programs.workloads.registry import open_workload
from tests.workloads.files import write, write_rows


def examples(*asked_of):
    """Questions over sources that have the given texts."""
    return [
        Example(
            query=Query(query_id=f"q{at}", question="What?", position=at, collection=Collection(
                sources=tuple(Source(source_id=f"{at}-{n}", text=text) for n, text in enumerate(texts))
            )),
            reference=Reference(query_id=f"q{at}", answers=()),
        )
        for at, texts in enumerate(asked_of)
    ]  # fmt: skip


def clusters(*asked_of):
    return [example.reference.cluster for example in with_clusters(examples(*asked_of))]


def test_questions_that_share_nothing_stand_alone():
    assert clusters(["a"], ["b", "c"], ["d"]) == [None, None, None]


def test_a_shared_source_makes_a_cluster_of_all_that_it_joins_by_one_or_by_several_steps():
    assert (
        clusters(["a"], ["c", "d"], ["x"], ["b", "c"], ["a", "b"])
        == ["documents of q0"] * 2 + [None] + ["documents of q0"] * 2
    )
    assert clusters(["a"], ["b"], ["b"], ["a"]) == [f"documents of q{at}" for at in (0, 1, 1, 0)]


@given(st.lists(st.frozensets(st.sampled_from("abcdefgh"), min_size=1, max_size=3), max_size=12))
def test_clusters_are_the_connected_components(asked_of):
    found = clusters(*map(sorted, asked_of))
    names = [cluster or f"alone {at}" for at, cluster in enumerate(found)]
    for at, sources in enumerate(asked_of):
        reached, before = set(sources), None
        while reached != before:
            before = set(reached)
            reached = reached.union(*(other for other in asked_of if other & reached))
        same = {other for other, texts in enumerate(asked_of) if texts & reached}
        assert {other for other, name in enumerate(names) if name == names[at]} == same


def test_own_questions_on_the_same_files_have_a_cluster_whatever_the_files_are_called(tmp_path):
    write(tmp_path / "docs/a.md", "The first note.")
    write(tmp_path / "docs/b.md", "The second note.")
    write(tmp_path / "other/copy.txt", "The second note.")
    write(tmp_path / "other/c.txt", "The third note.")
    rows = [
        {"question": "What?", "documents": names} for names in (["docs"], ["docs/a.md"], ["other"], ["other/c.txt"])
    ]
    rows += [{"question": "What?", "context": text} for text in ("The third note.", "Another one.", "Another one.")]
    path = write_rows(tmp_path / "mine.jsonl", *rows)
    opened = open_workload("own", None, "dev", path)
    found = [example.reference.cluster for example in opened.examples]
    assert found == ["documents of line-1"] * 5 + ["documents of line-6"] * 2
    first = open_workload("own", None, "dev", path, 2)
    assert [example.reference.cluster for example in first.examples] == ["documents of line-1"] * 2


def test_a_passage_that_recurs_in_other_contexts_does_not_tie_their_questions_together(tmp_path):
    contexts = [f"Passage 1:\nNets\nIda mends nets.\nPassage 2:\nKnots\nKnot {number}.\n" for number in (1, 2, 2)]
    path = write_rows(tmp_path / "mine.jsonl", *({"question": "What?", "context": text} for text in contexts))
    found = [example.reference.cluster for example in open_workload("own", None, "dev", path).examples]
    assert found == [None, "documents of line-2", "documents of line-2"]


def test_an_interval_over_own_questions_on_one_document_is_wider_than_if_each_stood_alone(tmp_path):
    rows = [{"question": "What?", "context": f"Text {at // 10}."} for at in range(60)]
    opened = open_workload("own", None, "dev", write_rows(tmp_path / "mine.jsonl", *rows))
    values = np.array([float(at // 10 % 2) for at in range(60)])
    together = interval(values, [example.reference.cluster for example in opened.examples])
    alone = interval(values)
    assert (together.clusters, alone.clusters) == (6, 60)
    assert together.high - together.low > 2 * (alone.high - alone.low)
