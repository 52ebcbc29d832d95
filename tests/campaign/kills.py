"""Kills at random instants: a run that is killed and taken up again, as often as it takes, ends as one never killed.

Nor is a call paid for twice: what a journal or a record once held of a run is never asked for again.
"""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

from tests.campaign.figures import Figures, measured
from tests.campaign.victims import VICTIMS
from tests.campaign.whole_runs import KILLED, Unbroken, check_end, ended, run_unbroken, start

REACH = 0.8
"""How far into the time of a whole run a kill may fall."""


@dataclass
class Bill:
    """The calls that a run really made, beside the most that it ever held of each."""

    path: Path
    held: Counter[str] = field(default_factory=Counter)
    lines: int = 0

    def check(self, run: Path, expected: Unbroken, figures: Figures) -> None:
        """See that no call was made since the last look that was held by then."""
        every = self.path.read_text().splitlines() if self.path.exists() else []
        made, self.lines = Counter(every[self.lines :]), len(every)
        for name, times in made.items():
            most = expected.calls[name] - self.held[name]
            figures.expect(times <= most, f"{expected.name}: a call was made {times} times where {most} were missing")
        for journal in run.glob("methods/*/journal.jsonl"):
            lines = journal.read_bytes().split(b"\n")[:-1]
            self.held |= Counter(json.loads(line)["key"] for line in lines)


def campaign(count: int, seed: int, folder: Path) -> Figures:
    """Kill so many times, one victim after the other."""
    draw = random.Random(seed)
    with measured("kills", seed, "kills") as figures:
        unbroken = [run_unbroken(name, folder / "unbroken" / str(i)) for i, name in enumerate(VICTIMS)]
        for number, expected in enumerate(cycle(unbroken)):
            if figures.count >= count:
                break
            place = folder / f"run-{number}"
            place.mkdir()
            kill_until_it_ends(expected, place, draw, figures, count)
            shutil.rmtree(place)
    return figures


def kill_until_it_ends(expected: Unbroken, place: Path, draw: random.Random, figures: Figures, count: int) -> None:
    """Kill and resume one run until it ends by itself, or the kills are spent and it may end."""
    run, bill = place / "run", Bill(place / "calls")
    while figures.count < count:
        child = start(expected, place)
        child.join(draw.uniform(0, REACH * expected.seconds))
        child.kill()
        child.join()
        bill.check(run, expected, figures)
        if child.exitcode != KILLED:
            figures.expect(child.exitcode == 0, f"{expected.name}: a resume ended with code {child.exitcode}")
            break
        figures.count += 1
        figures.kinds[stage_of(run, expected)] += 1
    else:
        code = ended(start(expected, place), expected.name, figures)
        figures.expect(code == 0, f"{expected.name}: the last resume ended with code {code}")
        bill.check(run, expected, figures)
    check_end(run, expected, figures)


def stage_of(run: Path, expected: Unbroken) -> str:
    """Say how far a killed run had come."""
    if not (run / "manifest.json").exists():
        return "before it began"
    written = run / "records.jsonl"
    done = written.read_bytes().count(b"\n") if written.exists() else 0
    if done == 0:
        return "before its first record"
    return "in the middle" if done < len(expected.records) else "after its last record"
