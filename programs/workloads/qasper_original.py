"""QASPER's own JSON file: one object, paper id to paper, with the questions and their annotators' answers inside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field, RootModel

from programs.documents.collection import Collection
from programs.errors import InputError
from programs.workloads.qasper import paper_collection
from programs.workloads.query import Example, Query, Reference
from programs.workloads.rows import STRICT, NonBlank, read_json, said_of

UNANSWERABLE = "Unanswerable"
"""What an annotator who found no answer in the paper is taken to have said, as QASPER's own scorer has it."""


class Answer(BaseModel):
    """What one annotator answered, in one of four ways."""

    model_config = STRICT
    unanswerable: bool
    extractive_spans: list[str]
    free_form_answer: str
    yes_no: bool | None

    def text(self) -> str | None:
        """Write the answer as QASPER's own scorer does, which tries the four ways in this order."""
        if self.unanswerable:
            return UNANSWERABLE
        written = ", ".join(self.extractive_spans) or self.free_form_answer
        if written.strip():
            return written
        return None if self.yes_no is None else "Yes" if self.yes_no else "No"


class Annotation(BaseModel):
    """An answer in its wrapper, which also names the annotator."""

    model_config = STRICT
    answer: Answer


class PaperQuestion(BaseModel):
    """A question of a paper, answered by one annotator or several."""

    model_config = STRICT
    question_id: NonBlank
    question: str
    answers: list[Annotation] = Field(min_length=1)


class Section(BaseModel):
    """A section. A few have no name."""

    model_config = STRICT
    section_name: str | None = None
    paragraphs: list[str]

    def text(self) -> str:
        """Put the heading on a line of its own before the paragraphs."""
        return "\n".join(part for part in (self.section_name, *self.paragraphs) if part and part.strip())


class Paper(BaseModel):
    """A paper with its questions."""

    model_config = STRICT
    title: str
    abstract: str
    full_text: list[Section]
    qas: list[PaperQuestion]

    def text(self) -> str:
        """Join title, abstract and sections, a blank line between them."""
        parts = (self.title, self.abstract, *(section.text() for section in self.full_text))
        return "\n\n".join(part for part in parts if part.strip())


class Papers(RootModel[dict[NonBlank, Paper]]):
    """The file: papers by id, in order."""


def load_qasper_original(path: Path) -> Iterator[Example]:
    """Give the examples in the order of the papers, and within a paper of its questions. The file is read at once.

    An answer that says nothing is an error: to skip its question would change what a mean is taken over.
    """
    papers = read_json(path, Papers).root
    if not any(paper.qas for paper in papers.values()):
        raise InputError(f"{path}: the file holds no questions; name one of the files that QASPER published")
    return _examples(path, papers)


def _examples(path: Path, papers: dict[str, Paper]) -> Iterator[Example]:
    asked: dict[str, str] = {}
    for paper_id, paper in papers.items():
        collection = paper_collection(paper_id, paper.text())
        for question in paper.qas:
            query_id = question.question_id
            with said_of(f"{path}, paper {paper_id}, question {query_id}"):
                if query_id in asked:
                    raise InputError(f"the id is already in paper {asked[query_id]}; ids must differ")
                example = _example(question, collection, len(asked), paper_id)
            asked[query_id] = paper_id
            yield example


def _example(question: PaperQuestion, collection: Collection, position: int, paper_id: str) -> Example:
    if not collection.texts[paper_id]:
        raise InputError("the paper has no text; give it a title, an abstract or sections")
    query_id = question.question_id
    return Example(
        query=Query(query_id=query_id, question=question.question, collection=collection, position=position),
        reference=Reference(query_id=query_id, answers=_answers(question), cluster=paper_id),
    )


def _answers(question: PaperQuestion) -> tuple[str, ...]:
    texts = [annotation.answer.text() for annotation in question.answers]
    said = tuple(text for text in texts if text is not None)
    if len(said) < len(texts):
        raise InputError(
            f"answer {texts.index(None) + 1} says nothing: no spans, no free form, no yes or no, and not marked "
            "unanswerable; complete it or take it out"
        )
    return said
