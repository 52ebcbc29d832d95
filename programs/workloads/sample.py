"""The sample that ships with the project: a dozen short documents of an invented harbour town, and questions on them.

Everything in it is made up, so a right answer was read in the documents and not remembered by a model.
"""

from __future__ import annotations

import json
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from programs.documents.collection import Collection, Source
from programs.frozen import Frozen
from programs.workloads.query import Example, Query, Reference


class Sample(Frozen):
    """All documents as one collection, and the examples, whose queries share it."""

    collection: Collection
    examples: tuple[Example, ...]

    @property
    def queries(self) -> tuple[Query, ...]:
        """The questions without their references."""
        return tuple(example.query for example in self.examples)


def load_sample() -> Sample:
    """Read the sample out of the installed package. A source's id is its file's name."""
    folder = _folder()
    collection = Collection(sources=tuple(_sources(folder)))
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    examples = (_example(json.loads(line), collection, position) for position, line in enumerate(lines))
    return Sample(collection=collection, examples=tuple(examples))


def sample_files() -> tuple[Path, ...]:
    """Name the files that the sample is read from; none where the package is imported out of an archive."""
    files = sorted(item for item in _folder().iterdir() if isinstance(item, Path))
    return tuple(file for file in files if file.suffix in (".md", ".jsonl"))


def _folder() -> Traversable:
    return resources.files("programs.workloads") / "sample"


def _sources(folder: Traversable) -> list[Source]:
    documents = sorted((item for item in folder.iterdir() if item.name.endswith(".md")), key=lambda item: item.name)
    return [Source(source_id=item.name, text=item.read_bytes().decode("utf-8")) for item in documents]


def _example(row: dict[str, Any], collection: Collection, position: int) -> Example:
    query_id = row["query_id"]
    return Example(
        query=Query(query_id=query_id, question=row["question"], collection=collection, position=position),
        reference=Reference(
            query_id=query_id,
            answers=row["answers"],
            supporting=row["supporting"],
            question_type=row["question_type"],
        ),
    )
