"""Workloads by name: which files a name stands for, and which loader reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from programs.errors import InputError
from programs.workloads.clusters import with_clusters
from programs.workloads.corpus import load_corpus
from programs.workloads.docvqa import load_docvqa, load_docvqa_original, page_text_file
from programs.workloads.longbench import load_longbench
from programs.workloads.own import document_files, load_own
from programs.workloads.qasper import load_qasper
from programs.workloads.qasper_original import load_qasper_original
from programs.workloads.query import Example
from programs.workloads.sample import load_sample, sample_files
from programs.workloads.unanswerable import ENDING as UNANSWERABLE
from programs.workloads.unanswerable import without_support
from programs.workloads.whole import ENDING as WHOLE
from programs.workloads.whole import over_whole_text

Split = Literal["train", "dev", "eval"]
TASKS = ("hotpotqa", "2wikimqa", "musique")
"""LongBench's tasks that the paper evaluates."""

CORPUS = re.compile(r"corpus/[\w.-]+")
"""A corpus is called what its files are called, so that anyone can add one."""

EVALUATION = re.compile(r"[.-](eval|test)\.")
"""What evaluation files are called. Opening one as dev would let a choice be made on it."""

OWN_FILES: Mapping[str, tuple[str, ...]] = {
    "qasper": ("qasper-test-v0.3.json",),
    "docvqa": ("val_v1.0_withQT.json", "val_v1.0.json"),
}
"""What the datasets call their own files of the splits that the paper evaluates: read for `eval` alone."""

NAMES = (*(f"longbench/{task}" for task in TASKS), "qasper", "docvqa", "corpus/<task>", "sample", "own")


@dataclass(frozen=True)
class Workload:
    """Questions in their order, and every file that they and their sources were read from."""

    name: str
    split: Split
    files: tuple[Path, ...]
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class _Request:
    """What was asked for. `family/task` is the name; most families have no tasks."""

    name: str
    data: Path | None
    split: Split
    questions: Path | None
    limit: int | None

    @property
    def family(self) -> str:
        return self.name.partition("/")[0]

    @property
    def task(self) -> str:
        return self.name.partition("/")[2]

    @property
    def folders(self) -> list[Path]:
        """The data folder may be the one of all workloads or of this family alone."""
        return [] if self.data is None else [self.data / self.family, self.data]

    @property
    def own_files(self) -> tuple[str, ...]:
        return OWN_FILES.get(self.family, ()) if self.split == "eval" else ()

    def find(self, *names: str, hint: str = "") -> Path:
        """Give the file of questions: the one that the user named, or the first of these in the data folder."""
        if self.questions is not None:
            return self.questions
        if self.data is None:
            raise InputError(f"{self.name}: name the folder of its files with --data, or a file with --questions")
        return _first(self.name, names, self.folders, hint)

    def take(self, files: Iterable[Path], examples: Iterable[Example]) -> Workload:
        """Keep the first examples only, without reading the rest."""
        return Workload(self.name, self.split, tuple(files), tuple(islice(examples, self.limit)))


def open_workload(
    name: str, data: Path | None, split: Split, questions: Path | None = None, limit: int | None = None
) -> Workload:
    """Find a workload's files below `data`, or take the user's file of questions, and load the first `limit`.

    A name that ends in `/whole` is the same workload over texts that are not cut into passages, and one that ends in
    `/unanswerable` is it without what its answers need.
    """
    plain = name.removesuffix(UNANSWERABLE).removesuffix(WHOLE)
    request = _Request(plain, data, split, questions, limit)
    if plain not in NAMES and not CORPUS.fullmatch(plain):
        raise InputError(f"no workload is called {name!r}; there are {', '.join(NAMES)}")
    if limit is not None and limit < 1:
        raise InputError(f"a limit of {limit} leaves no question of {name}; give 1 or more, or none for all")
    if split != "eval" and questions is not None and EVALUATION.search(questions.name):
        raise InputError(f"{questions}: by its name an evaluation file; it is read with --split eval alone")
    workload = _OPENERS[request.family](request)
    examples = workload.examples
    if name.removesuffix(UNANSWERABLE).endswith(WHOLE):
        examples = tuple(map(over_whole_text, examples))
    if name.endswith(UNANSWERABLE):
        examples = tuple(map(without_support, examples))
    return replace(workload, name=name, examples=examples)


def _longbench(request: _Request) -> Workload:
    """LongBench's own files have no split in their names; they are its test set, so no choice may be made on them."""
    names, hint = [f"{request.task}.{request.split}.jsonl"], ""
    if request.split == "eval":
        names.append(f"{request.task}.jsonl")
    else:
        hint = f"; LongBench's own {request.task}.jsonl is its test set and is read for eval alone"
    path = request.find(*names, hint=hint)
    return request.take([path], load_longbench(path))


def _qasper(request: _Request) -> Workload:
    path = request.find(f"questions.{request.split}.jsonl", *request.own_files)
    if _is_one_value(path):
        return request.take([path], load_qasper_original(path))
    plain = path.name.removesuffix(".gz")
    names = dict.fromkeys([plain.replace("questions", "papers", 1), f"papers.{request.split}.jsonl"])
    names.pop(plain, None)
    papers = _first(f"{request.name}: the papers of {path}", tuple(names), [path.parent, *request.folders])
    return request.take([path, papers], load_qasper(path, papers))


def _docvqa(request: _Request) -> Workload:
    path = request.find(f"questions.{request.split}.jsonl", *request.own_files)
    load = load_docvqa_original if _is_one_value(path) else load_docvqa
    workload = request.take([path], load(path))
    pages = dict.fromkeys(source.source_id for e in workload.examples for source in e.query.collection.each())
    return replace(workload, files=(path, *(page_text_file(path, page) for page in pages)))


def _corpus(request: _Request) -> Workload:
    path = request.find(f"{request.task}.queries.{request.split}.jsonl")
    name = f"{request.task}.passages.jsonl"
    passages = _first(f"{request.name}: the passages of {path}", [name], [path.parent, *request.folders])
    return request.take([path, passages], load_corpus(passages, path))


def _sample(request: _Request) -> Workload:
    if request.questions is not None:
        raise InputError("the sample has its own questions; ask yours with the workload 'own'")
    if request.split != "dev":
        raise InputError("the sample is a dev split only: it is there to try things out, not to evaluate")
    return request.take(sample_files(), load_sample().examples)


def _own(request: _Request) -> Workload:
    path = request.questions
    if path is None:
        raise InputError("the workload 'own' needs a file of questions; name it with --questions")
    workload = request.take([path], load_own(path))
    files = (path, *document_files(path, request.limit))
    return replace(workload, files=files, examples=with_clusters(workload.examples))


_OPENERS: Mapping[str, Callable[[_Request], Workload]] = {
    "longbench": _longbench,
    "qasper": _qasper,
    "docvqa": _docvqa,
    "corpus": _corpus,
    "sample": _sample,
    "own": _own,
}


def _first(what: str, names: Sequence[str], folders: Sequence[Path], hint: str = "") -> Path:
    places = [folder / f"{name}{packed}" for name in names for folder in folders for packed in ("", ".gz")]
    for place in dict.fromkeys(places):
        if os.path.isfile(place):
            return place
    looked = ", ".join(map(str, dict.fromkeys(places)))
    raise InputError(f"{what}: no file; looked at {looked}{hint}")


def _is_one_value(path: Path) -> bool:
    """A dataset's own file is one JSON value and is called .json; JSON lines are called anything else."""
    return path.name.lower().removesuffix(".gz").endswith(".json")
