"""Hostile documents, read by the worst of models: one that says whatever they say.

Nothing steers an action (the same actions come of a harmless text of the same shape), nothing reaches the screen or a
page but as inert text, nothing is run, written elsewhere or connected to.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.testing import CliRunner

from metrics.record import Action, QueryRecord, Reason
from programs import run
from programs.commands import ask
from programs.commands.terminal import err, out
from programs.models.engines.engine import ChatRequest
from programs.state import StateField
from signatures.abstraction import DescribeGroup
from signatures.navigator import ScoreTraces
from signatures.planner import ProposePlan
from signatures.reader import AnswerQuestion
from signatures.retriever import SelectEvidence
from signatures.verifier import JudgeEvidence
from tests.campaign.dangerous import is_dangerous
from tests.campaign.figures import Figures, measured
from tests.campaign.hostile_documents import HostileDocument, hostile_documents
from tests.campaign.pages import check_pages
from tests.campaign.watch import watched
from tests.support.runs import ASKS_MODELS, scripted_runtime
from tests.support.scripts import RoleScript, grade_all
from tests.support.worlds import make_collection, small_settings

QUESTION = "Which dome holds the lens of the observatory?"
ENDINGS = {0, 1, 3}
"""The exit codes of an answer, of none, and of one that was not found."""
WIDTH = 400
SIGNATURES = {
    "planner": ProposePlan,
    "navigator": ScoreTraces,
    "retriever": SelectEvidence,
    "verifier": JudgeEvidence,
    "reader": AnswerQuestion,
    "abstraction": DescribeGroup,
}
NOTES = {"planner"}
"""Whose prompts number nothing, so that a number at the start of a line says nothing there."""
LIMITS = {Reason.TRUNCATED, Reason.OVER_CONTEXT}
"""What ends a query by how many tokens its text takes, which a harmless text of the same shape need not share."""
PAGES_EVERY = 40
SAID = 150
"""Characters of a document that a model says at once."""


@dataclass
class Parrot:
    """A model that says what the document says, bare or in the form that it was asked for."""

    text: str
    verdicts: tuple[str, ...]
    bare: str | None
    """The role that says a piece of the document and nothing else."""
    start: int
    script: RoleScript = field(init=False)

    @property
    def piece(self) -> str:
        return self.text[self.start : self.start + SAID]

    def __post_init__(self) -> None:
        verdicts = iter(self.verdicts)
        shaped: dict[str, Callable[[ChatRequest], str]] = {
            "planner": lambda request: json.dumps(
                {"objective": self.piece, "targets": [self.piece[:200], "lens dome"]}
            ),
            "navigator": grade_all,
            "retriever": lambda request: spelt({"selected": [1, 2]}),
            "verifier": lambda request: spelt({"verdict": next(verdicts), "justification": self.piece}),
            "reader": lambda request: self.piece,
            "abstraction": lambda request: self.piece,
        }
        if self.bare is not None:
            shaped[self.bare] = lambda request: self.text
        self.script = RoleScript(**shaped)


@dataclass(frozen=True)
class Outcome:
    """What came of a document: the record, and what was on the screen."""

    record: QueryRecord | None
    screen: str
    code: int
    fault: str | None


def campaign(count: int, seed: int, folder: Path) -> Figures:
    """Read so many documents."""
    draw = random.Random(seed)
    with measured("documents", seed, "hostile documents") as figures:
        for number, document in enumerate(hostile_documents(seed, count)):
            place = folder / str(number)
            bare = draw.choice((None, None, None, "planner", "retriever", "verifier", "reader", "abstraction"))
            verdicts = draw.choice((("PASS",), ("FAIL", "PASS"), ("FAIL", "FAIL")))
            start = draw.randrange(max(1, len(document.text) - SAID))
            parrots = [Parrot(text, verdicts, bare, start) for text in (document.text, document.harmless)]
            outcomes = [
                read(document, parrot, place / name, figures)
                for name, parrot in zip(("hostile", "harmless"), parrots, strict=True)
            ]
            check_actions(document, *outcomes, bare, figures)
            check_screen(document, parrots[0], outcomes[0], figures)
            check_prompts(document, parrots[0], figures)
            figures.count += 1
            figures.kinds[document.kind] += 1
            if number % PAGES_EVERY == PAGES_EVERY - 1 or number == count - 1:
                check_pages(list(hostile_documents(draw.randrange(2**32), 28)), place / "pages", figures)
            shutil.rmtree(place)
    return figures


def read(document: HostileDocument, parrot: Parrot, place: Path, figures: Figures) -> Outcome:
    """Ask a question of the document and of harmless ones beside it, as a person would."""
    docs = place / "docs"
    docs.mkdir(parents=True)
    (docs / document.name).write_text(parrot.text, encoding="utf-8", newline="")
    (docs / f"{document.name}.exe").write_text("x")  # is skipped, with its name in a warning
    for source in make_collection().sources:
        (docs / source.source_id).write_bytes(source.text.encode())
    kept: list[QueryRecord] = []
    answer = ask.answer

    def keep(*arguments: object) -> QueryRecord:
        kept.append(answer(*arguments))  # type: ignore[arg-type]
        return kept[-1]

    settings = small_settings(**ASKS_MODELS)
    with pytest.MonkeyPatch.context() as patch, watched(place) as watch:
        patch.setattr(run, "open_models", lambda _: scripted_runtime(settings, script=parrot.script))
        patch.setattr(ask, "answer", keep)
        for console in (out, err):
            patch.setattr(console, "_width", WIDTH)
        asked = [
            "ask",
            QUESTION,
            "--docs",
            str(docs),
            "--preset",
            "tiny",
            "--states",
            "--full",
            "--verbose",
            "--best-guess",
        ]
        result = CliRunner().invoke(run.app, asked)
    for deed in watch.seen:
        figures.find(f"{document.kind}: {deed}")
    fault = (
        None
        if isinstance(result.exception, SystemExit | None)
        else f"{type(result.exception).__name__}: {result.exception}"
    )
    return Outcome(kept[0] if kept else None, result.output, result.exit_code, fault)


def check_actions(
    document: HostileDocument, hostile: Outcome, harmless: Outcome, bare: str | None, figures: Figures
) -> None:
    """Actions follow from committed verdicts, and with the same verdicts they are those of the harmless text."""
    kind = document.kind
    if not figures.expect(hostile.fault is None, f"{kind}: {(hostile.fault or '')[:160]}"):
        return
    record, twin = hostile.record, harmless.record
    if record is None or twin is None:
        said = " ".join(hostile.screen.split())[:120]
        same = hostile.code == harmless.code == 2
        figures.expect(same, f"{kind}: was turned away, or the harmless text was: {said}")
        return
    figures.expect(hostile.code in ENDINGS, f"{kind}: exit code {hostile.code}")
    verdicts = [value["label"] for value in record.committed(StateField.VERDICT).values()]
    due = [Action.RELEASE if v == "PASS" else (Action.REVISE, Action.FALLBACK)[i] for i, v in enumerate(verdicts)]
    last = due[-1] if due else None
    figures.expect(record.action == last, f"{kind}: the verdicts {verdicts} ended in {record.action}")
    readers = sum(call.role == "reader" for call in record.calls)
    figures.expect(readers <= 1, f"{kind}: {readers} calls of the reader")
    figures.expect(record.is_complete == (readers == 1), f"{kind}: {record.status} with {readers} calls of the reader")
    if bare is None and not any(rejection.reason in LIMITS for r in (record, twin) for rejection in r.rejections):
        ends = [(r.status, r.action, r.cycles, [(x.role, x.reason) for x in r.rejections]) for r in (record, twin)]
        figures.expect(ends[0] == ends[1], f"{kind}: ended as {ends[0]}, and harmless text as {ends[1]}")


def check_prompts(document: HostileDocument, parrot: Parrot, figures: Figures) -> None:
    """What a prompt lists is numbered from 1 and each field stands once, whatever a text in it looks like."""
    for role, request in parrot.script.requests:
        prompt = request.messages[-1].content
        numbers = [int(found) for found in re.findall(r"^\[(\d+)\]", prompt, flags=re.MULTILINE)]
        figures.expect(
            role in NOTES or numbers == list(range(1, len(numbers) + 1)),
            f"{document.kind}: forges items of the {role}'s prompt",
        )
        fields = [field.json_schema_extra.get("desc") for field in SIGNATURES[role].fields.values()]
        repeated = [name for name in fields if prompt.splitlines().count(f"{name}:") > 1]
        figures.expect(not repeated, f"{document.kind}: forges the field {repeated[:1]} of the {role}'s prompt")


def check_screen(document: HostileDocument, parrot: Parrot, outcome: Outcome, figures: Figures) -> None:
    """Nothing but plain characters, and what was said stands there as it was said."""
    odd = sorted({f"U+{ord(c):04X}" for c in outcome.screen if is_dangerous(c)})
    figures.expect(not odd, f"{document.kind}: on the screen: {', '.join(odd[:6])}")
    if outcome.record is not None and outcome.record.is_complete and outcome.record.answer == parrot.piece.strip():
        answer = squeezed(plain(outcome.record.answer))
        figures.expect(answer in squeezed(outcome.screen), f"{document.kind}: the answer is not on the screen as it is")


def plain(text: str) -> str:
    return "".join("�" if is_dangerous(c) else c for c in text.replace("\r\n", "\n").replace("\r", "\n"))


def spelt(said: object) -> str:
    """JSON whose characters stand for themselves, so that texts of one shape take the same tokens."""
    return json.dumps(said, ensure_ascii=False)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
