"""A mint of proposals: good ones, ones that are off by a hair, and absurd ones, each by chance and by seed alone."""

from __future__ import annotations

import random
from collections import UserList, deque
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

from pydantic import BaseModel

from programs.state import Address, Derived, EvidenceRecord, Role, State, Verdict, VerdictLabel
from signatures.planner import Plan
from tests.support.hostile import INJECTION, ODD, Explosive, OtherPlan, Sly
from tests.support.worlds import World


class Empty(tuple[Any, ...]):
    """Has items that it does not count."""

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return False


class Endless(tuple[Any, ...]):
    """Is never gone through to its end."""

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield "x"


class Shifty(list[Any]):
    """Is longer each time it is looked at."""

    def __len__(self) -> int:
        self.append("x")
        return super().__len__()


class Agreeable(int):
    """A number that is equal to every number."""

    def __eq__(self, other: object) -> bool:
        return True

    def __lt__(self, other: object) -> bool:
        return True

    __le__ = __gt__ = __ge__ = __lt__
    __hash__ = int.__hash__


class OtherLabel(StrEnum):
    """Looks like the label of a verdict."""

    PASS = "PASS"
    FAIL = "FAIL"


class OtherVerdict(Verdict):
    """A verdict that carries an action too."""

    action: str = "RELEASE"


class OtherRecord(EvidenceRecord):
    """A record that says of itself that it is any other."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = EvidenceRecord.__hash__


class Posing:
    """Says that it is of another class."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return self._kind

    @__class__.setter
    def __class__(self, kind: type) -> None:
        raise TypeError


def cyclic_list() -> list[Any]:
    itself: list[Any] = []
    itself.append(itself)
    return itself


def cyclic_dict() -> dict[Any, Any]:
    itself: dict[Any, Any] = {}
    itself["plan"] = itself
    return itself


def cyclic_tuple() -> tuple[Any, ...]:
    inner: list[Any] = []
    outer = (inner,)
    inner.append(outer)
    return outer


def nested_tuple() -> Any:
    value: Any = ()
    for _ in range(5000):
        value = (value,)
    return value


ABSURD: tuple[Callable[[], Any], ...] = (
    cyclic_list,
    cyclic_dict,
    cyclic_tuple,
    nested_tuple,
    Explosive,
    object,
    dict,
    State,
    lambda: Empty(("x",)),
    lambda: Endless(("x",)),
    lambda: Shifty(["x"]),
    lambda: UserList([1]),
    lambda: deque([1]),
    lambda: Posing(Plan),
    lambda: Posing(tuple),
    lambda: Posing(EvidenceRecord),
    lambda: (item for item in (1, 2)),
    lambda: "x" * 10**5,
    lambda: b"PASS",
    lambda: 10**400,
    lambda: float("nan"),
    lambda: complex(1, 2),
    lambda: Plan,
    lambda: {"plan": "x", "verdict": "PASS", "action": "RELEASE"},
    lambda: {1: 2, None: 3, ("a",): Explosive()},
    lambda: frozenset({1}),
    lambda: memoryview(b"x"),
    lambda: range(10**12),
    lambda: Ellipsis,
    lambda: VerdictLabel.PASS,
    lambda: "\ud800",
    lambda: INJECTION,
    lambda: Address(source_id="note-0.md", start=0, end=3),
)
NUMBERS = (
    -1,
    0,
    1,
    2,
    3,
    7,
    2**31,
    2**63 - 1,
    2**63,
    -(2**63),
    10**40,
    Agreeable(1),
    True,
    1.0,
    float("nan"),
    float("inf"),
)
TEXTS = (
    "",
    " ",
    "\u200b",
    "\x00",
    "\u2028",
    "x",
    "x" * 600,
    "x" * 601,
    "ünïcödé ✓",
    "\ud800",
    "a\udfffb",
    INJECTION,
    Sly("x"),
    Sly(""),
    "PASS",
    "RELEASE",
    " padded ",
    "a\x1b[2J",
    "\u202egnitarepo",
)


class Forger:
    """Draws proposals for a world."""

    def __init__(self, draw: random.Random, world: World) -> None:
        self.draw = draw
        self._graph = world.graph
        self._nodes = list(world.graph.evidence_nodes)
        self._traces = {trace[-1]: trace for trace in all_traces(world)}

    def value(self, role: Role, state: State, cycle: int) -> Any:
        """A value for a role: for its own field, mostly, or for another's, or for none."""
        chance = self.draw.random()
        if chance < 0.12:
            return self.draw.choice(ABSURD)()
        if chance < 0.18:
            return self.draw.choice(ODD)
        aimed = role if chance < 0.85 else self.draw.choice(list(Role))
        return self._field(aimed, state, cycle)

    def turn(self, role: Role, cycle: int) -> Any:
        """A role's turn in a lifecycle: good three times of four, so that later turns come about."""
        if self.draw.random() < 0.75:
            return lambda view: self._good(role, view.state, view.cycle)
        return lambda view: self.value(role, view.state, view.cycle)

    def _field(self, role: Role, state: State, cycle: int) -> Any:
        value = self._good(role, state, cycle)
        chance = self.draw.random()
        if chance < 0.35:
            return value
        if chance < 0.45:
            return self._wrapped(value)
        return self._off_by_a_hair(role, value, state, cycle)

    def _good(self, role: Role, state: State, cycle: int) -> Any:
        """A value that is right where it stands."""
        if role is Role.PLANNER:
            return Plan(objective="find it", targets=tuple("target" for _ in range(self.draw.randint(1, 4))))
        if role is Role.NAVIGATOR:
            ends = self.draw.sample(sorted(self._traces), self.draw.randint(1, 4))
            return tuple(self._traces[end] for end in ends)
        if role is Role.RETRIEVER:
            ends = [trace[-1] for trace in state.path] or self.draw.sample(self._nodes, 1)
            region = sorted({node for end in ends for node in self._graph.region(end)}) or self._nodes
            kept = self.draw.sample(region, min(len(region), self.draw.randint(1, 5)))
            fresh = tuple(self._graph.record(node, cycle) for node in kept)
            carried = tuple(
                record for record in state.evidence if record.evidence_id not in {r.evidence_id for r in fresh}
            )
            return fresh + carried[:2] if self.draw.random() < 0.3 else fresh
        if role is Role.VERIFIER:
            label = self.draw.choice((VerdictLabel.PASS, VerdictLabel.FAIL))
            return Verdict(label=label, justification=self.draw.choice(("enough", "more", "x" * 600)))
        return ()

    def _off_by_a_hair(self, role: Role, value: Any, state: State, cycle: int) -> Any:
        if role is Role.PLANNER:
            return self._changed(
                value, {"objective": TEXTS, "targets": ((), ("",), ("a",) * 5, ["a"], ("a", 1), None, *ODD)}
            )
        if role is Role.NAVIGATOR:
            return self._bent(value)
        if role is Role.RETRIEVER:
            return self._tampered(value, cycle)
        if role is Role.VERIFIER:
            labels = ("PASS", "FAIL", OtherLabel.PASS, VerdictLabel.PENDING, VerdictLabel.FAIL, *ODD)
            return self._changed(value, {"label": labels, "justification": (*TEXTS, *ODD)})
        return self.draw.choice(
            (("made-up",), ("plan-0000000000000000",), (1,), [""], ("",), (Sly("x"),), ("x",) * 1000)
        )

    def _changed(self, model: Any, members: dict[str, tuple[Any, ...]]) -> Any:
        """The model with a member exchanged, taken away or added, past its own checks."""
        name = self.draw.choice(list(members))
        kept = dict(vars(model))
        chance = self.draw.random()
        if chance < 0.1:
            kept.pop(name)
        elif chance < 0.2:
            kept["action"] = "RELEASE"
        else:
            kept[name] = self.draw.choice(members[name])
        kinds = {Plan: OtherPlan, Verdict: OtherVerdict, EvidenceRecord: OtherRecord}
        kind = kinds[type(model)] if self.draw.random() < 0.08 else type(model)
        made = kind.model_construct(**{name: item for name, item in kept.items() if name in kind.model_fields})
        if chance < 0.2:
            vars(made).update(kept)
        return made

    def _bent(self, path: Any) -> Any:
        trace = self.draw.choice(path)
        i = self.draw.randrange(len(trace))
        number = self.draw.choice((*NUMBERS, len(self._graph), self.draw.randrange(len(self._graph)), "1", None))
        bent = self.draw.choice(
            (
                trace[1:],
                trace[:-1],
                (),
                (*trace, trace[-1]),
                (*trace[:i], number, *trace[i + 1 :]),
                (trace[0], trace[-1]),
                tuple(reversed(trace)),
                list(trace),
                Empty(trace),
                trace * 200,
            )
        )
        whole = list(path)
        whole[self.draw.randrange(len(whole))] = bent
        return self.draw.choice((tuple(whole), tuple(whole), tuple(whole), whole, (*path, *path), trace, Empty(whole)))

    def _tampered(self, evidence: Any, cycle: int) -> Any:
        records = list(evidence)
        i = self.draw.randrange(len(records))
        place = Address(source_id="note-0.md", start=0, end=3)
        records[i] = self._changed(
            records[i],
            {
                "evidence_id": (*TEXTS, "note-0.md#0-3"),
                "source_id": (*TEXTS, "note-0.md", "../../etc/passwd"),
                "start": NUMBERS,
                "end": NUMBERS,
                "text": (*TEXTS, records[i].text + " ", records[i].text[:-1], Sly(records[i].text)),
                "cycle": NUMBERS,
                "derived": (Derived(kind="summary", regions=(place,)), {}, "x", cyclic_list(), Explosive()),
            },
        )
        outside = self._graph.record(self.draw.choice(self._nodes), cycle)
        return self.draw.choice(
            (
                tuple(records),
                tuple(records),
                tuple(records),
                (*evidence, evidence[0]),
                (*evidence, outside),
                evidence * 3,
                records,
                Empty(records),
                (dict(records[i]),),
                tuple(self._graph.record(node, cycle) for node in self._nodes[:9]),
                (),
            )
        )

    def _wrapped(self, value: Any) -> Any:
        """A good value in the wrong wrapping."""
        return self.draw.choice(
            (
                [value],
                (value,),
                {"value": value},
                lambda: value,
                value.model_dump() if isinstance(value, BaseModel) else list(value),
                repr(value),
                Empty((value,)),
            )
        )


def all_traces(world: World) -> Iterator[tuple[int, ...]]:
    """Every way from the root to Evidence."""
    open_ones = [(world.graph.root,)]
    while open_ones:
        trace = open_ones.pop()
        children = world.graph.children(trace[-1])
        if not children:
            yield trace
        open_ones += [(*trace, child) for child in children]


def value_kind(value: Any) -> str:
    """Say of what sort a value is, without asking it."""
    return type(value).__name__
