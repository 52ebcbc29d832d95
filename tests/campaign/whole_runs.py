"""Victims' runs in processes of their own, and whether one that had mishaps ended as one that nothing happened to."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections import Counter
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from programs.workloads.manifest import AnyManifest
from tests.campaign import victims
from tests.campaign.figures import Figures
from tests.support.runs import memory_of, records_of, timeless_summary

LONGEST = 120.0
"""Seconds after which a run that nobody killed counts as hanging."""
KILLED = -9

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.campaign.victims"])


@dataclass(frozen=True)
class Unbroken:
    """What a victim's run gives that nothing happened to."""

    name: str
    manifest: AnyManifest
    records: list[dict[str, Any]]
    memory: list[tuple[Any, ...]]
    summary: dict[str, Any]
    calls: Counter[str]
    seconds: float
    size: int
    """Bytes of its folder."""


def start(expected: Unbroken, place: Path, **mishaps: Any) -> BaseProcess:
    """Begin the run below a place, or go on with it."""
    return started(expected.name, expected.manifest, place / "run", place / "calls", **mishaps)


def started(name: str, manifest: AnyManifest, out: Path, charged: Path, **mishaps: Any) -> BaseProcess:
    arguments = (name, str(out), manifest, str(charged))
    child = processes.Process(target=victims.run_victim, args=arguments, kwargs=mishaps)
    child.start()
    return child


def ended(child: BaseProcess, what: str, figures: Figures) -> int | None:
    """Wait for the end of a run that nobody kills, and give its exit code; one that hangs has none."""
    child.join(LONGEST)
    if child.exitcode is None:
        figures.find(f"{what}: still at work after {LONGEST:.0f} s")
        child.kill()
        child.join()
        return None
    return child.exitcode


def run_unbroken(name: str, folder: Path) -> Unbroken:
    """Run a victim to its end, twice: the second time says how long it takes once all is warm."""
    manifest = victims.VICTIMS[name].evaluation().manifest()
    folder.mkdir(parents=True)
    for attempt in ("first", "second"):
        began = time.monotonic()
        child = started(name, manifest, folder / attempt, folder / f"{attempt}.calls")
        child.join(LONGEST)
        assert child.exitcode == 0, f"{name}: ended with exit code {child.exitcode} though nothing happened to it"
        seconds = time.monotonic() - began
    run = folder / "second"
    return Unbroken(
        name=name,
        manifest=manifest,
        records=records_of(run),
        memory=memory_of(run),
        summary=summary_of(run),
        calls=Counter((folder / "second.calls").read_text().splitlines()),
        seconds=seconds,
        size=sum(path.stat().st_size for path in run.rglob("*") if path.is_file()),
    )


def check_end(run: Path, expected: Unbroken, figures: Figures) -> None:
    """The records, the memory and the summary are those of a run that nothing happened to."""
    if not (run / "summary.json").exists():
        figures.find(f"{expected.name}: no summary at the end")
        return
    figures.expect(records_of(run) == expected.records, f"{expected.name}: other records")
    figures.expect(memory_of(run) == expected.memory, f"{expected.name}: another memory")
    figures.expect(summary_of(run) == expected.summary, f"{expected.name}: another summary")


def summary_of(run: Path) -> dict[str, Any]:
    return timeless_summary(json.loads((run / "summary.json").read_text()))
