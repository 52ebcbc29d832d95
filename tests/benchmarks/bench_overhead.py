"""StateRAG's own work a query: a scripted model of no latency, vectors and scores in the cache, about 40 regions.

Beside it, in the same run, what the same number of bare `dspy.Predict` calls costs with DSPy's own adapter: what a
program without a typed state would pay for asking as often.
"""

from __future__ import annotations

import statistics
import time

import dspy

from programs.documents.collection import Collection, Source
from programs.methods.staterag import StateRAG
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime, open_cross_encoder, open_encoder
from programs.models.scripted import ScriptedBackend
from programs.settings import load_settings
from programs.workloads.query import Query
from programs.workloads.sample import load_sample
from tests.support.scripts import RoleScript, fail

REPEATS = 60


def long_collection() -> Collection:
    """Repeat the sample's documents, each copy marked, until they make about 40 regions of the usual size."""
    documents = load_sample().collection.sources
    texts = [" ".join(f"({i}) {d.text}" for d in documents[i % 6 : i % 6 + 6]) for i in range(16)]
    return Collection(sources=tuple(Source(source_id=f"long-{i}.md", text=text) for i, text in enumerate(texts)))


def times(run) -> tuple[float, float]:
    """Give the median and the 95th percentile of repeated runs, in milliseconds."""
    taken = []
    for i in range(REPEATS):
        started = time.perf_counter()
        run(i)
        taken.append(1000 * (time.perf_counter() - started))
    taken.sort()
    return statistics.median(taken), taken[int(0.95 * REPEATS)]


def main() -> None:
    collection = long_collection()
    base = load_settings("embedded")
    encoder, cross_encoder = open_encoder(base.encoder), open_cross_encoder(base.cross_encoder)
    question = load_sample().examples[0].query.question

    def program(**answers) -> StateRAG:
        model = LanguageModel(ScriptedBackend(RoleScript(**answers)))
        return StateRAG(Runtime(base, model, model, encoder, cross_encoder), workload="bench")

    def query(i: int) -> Query:
        return Query(query_id=f"q{i}", question=question, collection=collection, position=i)

    released = program()
    record = released.run(query(0))
    leaves = released._shared.graphs[collection.digest].leaves
    median, high = times(lambda i: released.run(query(i + 1)))
    print(
        f"{leaves} regions, graph kept, {record.cycles} cycle, {len(record.calls)} calls: median {median:.1f} ms, 95th {high:.1f} ms"
    )

    def rebuilt(i: int) -> None:
        released._shared.graphs.clear()
        released.run(query(i + 1000))

    median, high = times(rebuilt)
    print(f"{leaves} regions, graph built anew from cached vectors: median {median:.1f} ms, 95th {high:.1f} ms")

    revised = program(verifier=fail("x"))
    record = revised.run(query(0))
    median, high = times(lambda i: revised.run(query(i + 1)))
    print(f"{record.cycles} cycles, {len(record.calls)} calls: median {median:.1f} ms, 95th {high:.1f} ms")

    bare = LanguageModel(ScriptedBackend(lambda request: "[[ ## answer ## ]]\nthe dome\n\n[[ ## completed ## ]]"))
    predict = dspy.Predict("question, evidence -> answer")
    with dspy.context(disable_history=True):
        median, high = times(
            lambda i: [predict(question=question, evidence="text", lm=bare) for _ in range(len(record.calls))]
        )
    print(f"{len(record.calls)} bare dspy.Predict calls: median {median:.1f} ms, 95th {high:.1f} ms")


if __name__ == "__main__":
    main()
