"""Clocks that jump, forwards and backwards: no record says that something took less than no time, and nothing waits on."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from tests.campaign.figures import Figures, measured
from tests.campaign.victims import VICTIMS
from tests.campaign.whole_runs import check_end, ended, run_unbroken, start

TIMES = ("seconds", "latency")


def campaign(count: int, seed: int, folder: Path) -> Figures:
    """Run so many runs by such clocks."""
    draw = random.Random(seed)
    with measured("clocks", seed, "runs by clocks that jump") as figures:
        unbroken = [run_unbroken(name, folder / "unbroken" / str(i)) for i, name in enumerate(VICTIMS)]
        for expected, number in zip(cycle(unbroken), range(count), strict=False):
            place = folder / str(number)
            place.mkdir()
            code = ended(start(expected, place, clocks=draw.randrange(2**32)), expected.name, figures)
            figures.count += 1
            figures.kinds[expected.name] += 1
            if figures.expect(code == 0, f"{expected.name}: ended with code {code} where a clock jumped"):
                check_end(place / "run", expected, figures)
                odd = [said for said in seconds_of(place / "run" / "records.jsonl") if not 0 <= said < math.inf]
                figures.expect(not odd, f"{expected.name}: seconds {odd[:3]} in a record")
            shutil.rmtree(place)
    return figures


def seconds_of(records: Path) -> Iterator[float]:
    """Every time that the records of a run give."""
    for line in records.read_text(encoding="utf-8").splitlines():
        yield from times_in(json.loads(line))


def times_in(value: Any) -> Iterator[float]:
    if isinstance(value, list):
        for item in value:
            yield from times_in(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in TIMES:
                yield from item.values() if isinstance(item, dict) else [item]
            else:
                yield from times_in(item)
