"""Files as they may come from anywhere: bytes that are nothing, and valid files with something in them changed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from programs.errors import InputError

DEEP = 900
"""Levels that a parser of JSON still takes, and that many a walk through a tree does not."""


ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**18, -(10**30), 10**400, 1e308, float("nan"), float("inf"),
    "", " ", "0", "nan", "a\0b", "\u2028", "é" * 3000, "../../x", "@nested@", "@half@",
    [], [None], ["a", 1, None], [[]], {}, {"": {}}, {"a": [1]}, ["x"] * 3000,
)  # fmt: skip
"""What may stand where something else belongs."""


def written(value: Any) -> bytes:
    """Write JSON, with what no tree can hold where its marks stand."""
    text = json.dumps(value, ensure_ascii=False)
    return text.replace('"@nested@"', "[" * DEEP + "]" * DEEP).replace("@half@", "\\ud800").encode("utf-8")


def places(value: Any) -> list[tuple[Any, Any]]:
    """Give every container of a tree with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@st.composite
def changed_trees(draw: st.DrawFn, valid: bytes) -> bytes:
    """Change a few places of a JSON value: another value, none, or a key beside it that nobody knows."""
    tree = {"": json.loads(valid)}
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(places(tree)))
        odd = deepcopy(draw(st.sampled_from(ODD)))
        match draw(st.sampled_from(["put", "put", "put", "drop", "add"])):
            case "drop" if container is not tree:
                del container[key]
            case "add" if isinstance(container, dict) and container is not tree:
                container[draw(st.text(max_size=9)) or f"{key}x"] = odd
            case _:
                container[key] = odd
    return written(tree[""])


@st.composite
def changed_bytes(draw: st.DrawFn, valid: bytes) -> bytes:
    """Cut a file off, take a piece out, or put other bytes in."""
    start, end = sorted((draw(st.integers(0, len(valid))), draw(st.integers(0, len(valid)))))
    return valid[:start] + draw(st.binary(max_size=20)) + valid[draw(st.sampled_from([start, end, len(valid)])) :]


@st.composite
def changed_lines(draw: st.DrawFn, valid: bytes) -> bytes:
    """Change a line of a file of JSON lines, or which lines there are."""
    lines = valid.splitlines()
    at = draw(st.integers(0, len(lines) - 1))
    match draw(st.sampled_from(["change", "change", "change", "drop", "twice"])):
        case "drop":
            del lines[at]
        case "twice":
            lines.append(lines[at])
        case _:
            lines[at] = draw(changed_trees(lines[at]))
    return b"".join(line + b"\n" for line in lines)


def hostile(valid: bytes, lines: bool = False, packed: bool = False) -> st.SearchStrategy[bytes]:
    """Give files to read in place of a valid one, which is among them."""
    changed = changed_lines(valid) if lines else changed_trees(valid)
    plain = st.one_of(changed, changed, changed, changed_bytes(valid), st.binary(max_size=200), st.just(valid))
    if not packed:
        return plain
    squeezed = st.builds(gzip.compress, plain)
    return st.one_of(plain, plain, squeezed, squeezed.map(lambda data: data[: len(data) // 2]))


def taken_or_refused(read: Callable[[], object]) -> str | None:
    """Read, and give what an `InputError` said. Anything else that is raised is a fault of the reader."""
    try:
        read()
    except InputError as error:
        said = str(error)
        said.encode("utf-8")
        assert said
        assert len(said) < 20_000, said[:300]
        return said
    return None
