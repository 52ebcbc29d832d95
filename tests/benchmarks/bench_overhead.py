"""StateRAG's own work a query: a scripted model of no latency, vectors and scores in the cache, about 40 regions.

Own work is the whole query less the seconds inside the model's calls, which the ledger has.

Beside it, in the same run, what the same number of bare `dspy.Predict` calls costs with DSPy's own adapter: what a
program without a typed state would pay for asking as often.
"""

from __future__ import annotations

import statistics
import time

import dspy

from metrics.record import QueryRecord
from programs.documents.collection import Collection, Source
from programs.methods.staterag.program import StateRAG
from programs.models.language_model import LanguageModel
from programs.models.ledger import Ledger, Phase
from programs.models.runtime import Runtime, open_cross_encoder, open_encoder
from programs.settings import load_settings
from programs.workloads.query import Query
from programs.workloads.sample import load_sample
from tests.support.scripted import ScriptedEngine
from tests.support.scripts import RoleScript, fail

REPEATS = 60


def long_collection() -> Collection:
    """Repeat the sample's documents, each copy marked, until they make about 40 regions of the usual size."""
    documents = load_sample().collection.sources
    texts = [" ".join(f"({i}) {d.text}" for d in documents[i % 6 : i % 6 + 6]) for i in range(16)]
    return Collection(sources=tuple(Source(source_id=f"long-{i}.md", text=text) for i, text in enumerate(texts)))


def times(run) -> tuple[float, float]:
    """Give the median and the 95th percentile of repeated runs, in milliseconds, less the models' own seconds."""
    taken = []
    for i in range(REPEATS):
        started = time.perf_counter()
        models = run(i)
        taken.append(1000 * (time.perf_counter() - started - models))
    taken.sort()
    return statistics.median(taken), taken[int(0.95 * REPEATS)]


def main() -> None:
    collection = long_collection()
    base = load_settings("embedded")
    encoder, cross_encoder = open_encoder(base.encoder), open_cross_encoder(base.cross_encoder)
    question = load_sample().examples[0].query.question

    def program(settings=base, **answers) -> StateRAG:
        model = LanguageModel(ScriptedEngine(RoleScript(**answers)))
        return StateRAG(Runtime(settings, model, model, encoder, cross_encoder), workload="bench")

    def query(i: int) -> Query:
        return Query(query_id=f"q{i}", question=question, collection=collection, position=i)

    released = program()
    record = released.run(query(0))
    leaves = released.indexes.get(collection.digest, 0, lambda: None).leaves
    median, high = times(lambda i: inside_models(released.run(query(i + 1))))
    print(
        f"{leaves} regions, graph kept, {record.cycles} cycle, {len(record.calls)} calls: median {median:.1f} ms, 95th {high:.1f} ms"
    )

    def rebuilt(i: int) -> float:
        released.indexes.retain(())
        return inside_models(released.run(query(i + 1000)))

    median, high = times(rebuilt)
    print(f"{leaves} regions, graph built anew from cached vectors: median {median:.1f} ms, 95th {high:.1f} ms")

    revised = program(load_settings("embedded", ["verifier.rule=model"]), verifier=fail("x"))
    record = revised.run(query(0))
    median, high = times(lambda i: inside_models(revised.run(query(i + 1))))
    print(f"{record.cycles} cycles, {len(record.calls)} calls: median {median:.1f} ms, 95th {high:.1f} ms")

    bare = LanguageModel(ScriptedEngine(lambda request: "[[ ## answer ## ]]\nthe dome\n\n[[ ## completed ## ]]"))
    predict = dspy.Predict("question, evidence -> answer")
    asked = len(record.calls)

    def alone(i: int) -> float:
        ledger = Ledger("bare")
        with dspy.context(disable_history=True), ledger.scope("bare", Phase.AUX):
            for _ in range(asked):
                predict(question=question, evidence="text", lm=bare)
        return sum(call.seconds for call in ledger.calls)

    median, high = times(alone)
    print(f"{asked} bare dspy.Predict calls: median {median:.1f} ms, 95th {high:.1f} ms")


def inside_models(record: QueryRecord) -> float:
    """Sum the seconds that the query spent in model calls."""
    return sum(call.seconds for call in record.calls)


if __name__ == "__main__":
    main()
