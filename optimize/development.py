"""Development questions, all that a choice may be made by: this is the one door through which they come.

No option names a split: the questions opened here are the development ones, or, for weights, those of a `train` split
where a workload has one. What says that it is of another split, or is a locked manifest, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from programs.content_key import content_bytes, content_key
from programs.errors import InputError
from programs.workloads.hashes import SeenHashes, seen_of
from programs.workloads.manifest import LockedManifest
from programs.workloads.query import Example
from programs.workloads.registry import Workload, open_workload

TRAIN = 0.5
"""The share of questions that prompts are proposed from, unless said otherwise."""

HASHES = 1 << 64


class DevelopmentExample(Example):
    """A development question that knows its workload, because several are measured together."""

    workload: str


@dataclass(frozen=True)
class Development:
    """Development questions, split in two for good: `train` to propose from, `validation` to choose by."""

    train: tuple[Example, ...]
    validation: tuple[Example, ...]
    workloads: tuple[str, ...]
    seen: SeenHashes
    digest: str
    """A name of all of it: the questions, their sources and references, and how they were split."""


def open_development(
    workloads: Sequence[str],
    data: Path | None,
    questions: Path | None,
    limit: int | None,
    train: float,
    seed: int,
) -> Development:
    """Open development questions, the first `limit` of each workload, and split them.

    A hash of a question's id decides its side, or of what it has in common with others on its source; so a question
    stays on its side whatever the limit is, and no document is on both.
    """
    if isinstance(workloads, LockedManifest):
        raise InputError("a locked manifest is of an evaluation, and nothing may be chosen by it")
    names = list(dict.fromkeys(workloads))
    if not names:
        raise InputError("name at least one workload")
    if questions is not None and len(names) > 1:
        raise InputError(f"--questions is one file, and there are {len(names)} workloads; name one of them")
    if not 0 <= train < 1:
        raise InputError(f"the share of training questions is at least 0 and less than 1, not {train}")
    opened = [_of_split("dev", open_workload(name, data, "dev", questions, limit)) for name in names]
    examples = tuple(_numbered(opened))
    chosen_from = [example for example in examples if _share(example, seed) < train]
    left = [example for example in examples if _share(example, seed) >= train]
    if not left:
        raise InputError(
            f"none of the {len(examples)} questions is left to choose by; give more, another seed, or a smaller share "
            "for training"
        )
    return Development(
        train=tuple(chosen_from),
        validation=tuple(left),
        workloads=tuple(names),
        seen=seen_of([example.query for example in examples]),
        digest=content_key(repr(train), str(seed), *(part for example in examples for part in _parts(example))),
    )


def workload_of(example: Example) -> str:
    """Name the workload of a question; one that does not say stands for itself."""
    return example.workload if isinstance(example, DevelopmentExample) else "questions"


def open_training(workloads: Sequence[str], data: Path | None, limit: int | None) -> tuple[Example, ...]:
    """Open the questions of the `train` split, the first `limit` of each workload: weights are fitted on them."""
    opened = [_of_split("train", open_workload(name, data, "train", None, limit)) for name in dict.fromkeys(workloads)]
    return tuple(_numbered(opened))


def _of_split(split: Literal["train", "dev"], workload: Workload) -> Workload:
    if workload.split != split:
        raise InputError(f"{workload.name}: of the split {workload.split!r}; nothing may be chosen by it")
    return workload


def _numbered(opened: Iterable[Workload]) -> Iterator[DevelopmentExample]:
    """Number the questions of all workloads through, since positions tell queries apart."""
    pairs = [(workload.name, example) for workload in opened for example in workload.examples]
    for position, (name, example) in enumerate(pairs):
        query = example.query.model_copy(update={"position": position})
        yield DevelopmentExample(query=query, reference=example.reference, workload=name)


def _share(example: DevelopmentExample, seed: int) -> float:
    """Place a question between 0 and 1."""
    together = example.reference.cluster or example.query.query_id
    drawn = content_bytes("split", str(seed), example.workload, together)
    return int.from_bytes(drawn[:8], "big") / HASHES


def _parts(example: DevelopmentExample) -> Iterator[str]:
    yield from (example.workload, example.query.query_id, example.query.question, example.query.collection.digest)
    yield example.reference.model_dump_json()
