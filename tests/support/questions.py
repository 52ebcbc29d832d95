"""Questions as tests ask them: of a program itself, and in files of a person's own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from metrics.record import QueryRecord
from programs.documents.collection import Collection
from programs.methods.method import Method
from programs.workloads.query import Query
from tests.support.worlds import make_collection
from tests.workloads.files import write_rows

QUESTION = "Which dome holds the lens?"


def ask(
    program: Method, collection: Collection | None = None, question: str = QUESTION, position: int = 0
) -> QueryRecord:
    """Run one query, over the collection of the small world unless another is given."""
    over = make_collection() if collection is None else collection
    return program.run(Query(query_id=f"q{position}", question=question, collection=over, position=position))


def write_own_questions(folder: Path, asked: Iterable[tuple[str, str]]) -> Path:
    """Write questions with their answers as a person's own file, each with a context that fills several regions."""
    rows = (
        {
            "id": f"own-question-{i}",
            "question": question,
            "context": f"Note {i}. " + "observatory lens dome star harbour ferry pier tide. " * 30,
            "answers": [answer],
        }
        for i, (question, answer) in enumerate(asked)
    )
    return write_rows(folder / "questions.jsonl", *rows)
