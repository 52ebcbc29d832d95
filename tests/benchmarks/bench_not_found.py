"""How often it is told right whether the sample's documents answer a question: ten that they do, and ten that they don't.

    python -m tests.benchmarks.bench_not_found [--set KEY=VALUE ...]

Nothing was fitted on these questions.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing

from metrics.answers import containment_accuracy
from metrics.record import SupportStatus
from programs.commands.terminal import open_models
from programs.selection.configured import configure
from programs.workloads.query import Query
from programs.workloads.sample import load_sample

ANSWERED = {
    "Who designed the town hall of Quarrowmouth?": "Imke Sandover",
    "When was the harbour lighthouse of Quarrowmouth finished?": "1760",
    "Who added the Finch telescope?": "Odile Tarn",
    "Who painted the portrait of Ysolde Marrane?": "Rufus Quill",
    "How long does the crossing of the Hessary Ferry Line take in good weather?": "fifty minutes",
    "Which vessel of the Hessary Ferry Line sank in 1915?": "Marsh Lantern",
    "Who was the chief designer of the Ostrel Shipyard?": "Wilhelmina Sorrow",
    "Who composed The Herring March?": "Gustav Pell",
    "What did Caspar Wrenfield discover in 1896?": "silver frostwort",
    "Who taught Linus Abergrove?": "Bettany Crole",
}
NOT_ANSWERED = (
    "How much did the Grey Plover cost to build?",
    "What is the name of the present mayor of Quarrowmouth?",
    "How many people live in Brackenport?",
    "Who founded Saint Orla's College?",
    "Who wrote the novel The Glass Harbour?",
    "In which year did Odile Tarn die?",
    "What is the capital of Mongolia?",
    "How tall is the lighthouse on Ambrel Island?",
    "What was the name of Hamo Strickmere's wife?",
    "Which prize did Maren Ilsevik win in Vienna?",
)


def main(overrides: Sequence[str]) -> None:
    configured = configure("staterag", "embedded", overrides)
    collection = load_sample().examples[0].query.collection
    told = {True: 0, False: 0}
    right = 0
    with closing(open_models(configured.settings)) as runtime, configured.open(runtime, "sample") as program:
        for position, question in enumerate((*ANSWERED, *NOT_ANSWERED)):
            record = program.run(
                Query(query_id=f"q{position}", question=question, collection=collection, position=position)
            )
            assert record.support is not None, "this preset judges no answers"
            found = record.support.status is not SupportStatus.NOT_FOUND
            told[question in ANSWERED] += found is (question in ANSWERED)
            right += containment_accuracy(record.answer, (ANSWERED.get(question, "\0"),)) == 1.0
            probability = f"{record.support.status} {record.support.probability:.2f}"
            print(f"  {'✓' if found is (question in ANSWERED) else '✗'} {probability}  {question}  {record.answer}")
    print(f"told right: {told[True]} of {len(ANSWERED)} that are answered there ({right} with the right answer),")
    print(f"            {told[False]} of {len(NOT_ANSWERED)} that are not")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs="*", default=[], help="settings to change")
    main(parser.parse_args().set)
