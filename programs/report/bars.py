"""How far long steps are: bars with a rate on a terminal, a line now and then in a log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from programs.progress import Listener, listening
from programs.report.visible import visible

QUIET_SECONDS = 30.0
"""How long a step in a log says nothing more."""


@contextmanager
def bars(console: Console) -> Iterator[Listener]:
    """Show each step that is reported inside; where there is no terminal, say it in lines."""
    with _drawn(console) if console.is_terminal else _logged(console) as show, listening(show):
        yield show


class RateColumn(ProgressColumn):
    """How fast the parts of a step are done."""

    def render(self, task: Task) -> Text:
        """Show the mean rate so far."""
        elapsed = task.finished_time if task.finished else task.elapsed
        if not task.completed or not elapsed:
            return Text("")
        return Text(rate(elapsed / task.completed))


class LogLines:
    """Says where each step is, every `QUIET_SECONDS` at most, and once more when a step that was spoken of ends.

    A step that is over before it was spoken of is told only where the log was quiet for as long: there are many of
    them, such as the encoding for every query.
    """

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._under_way: dict[str, _Step] = {}
        self._said = -inf
        self._guard = threading.Lock()

    def __call__(self, name: str, done: int, total: int) -> None:
        """Take a report of progress."""
        with self._guard:
            now = self._clock()
            step = self._under_way.get(name)
            if step is None or done <= step.begun_with:
                step = self._under_way[name] = _Step(now, done)
            if done >= total:
                del self._under_way[name]
            if done and self._is_due(step, now, done >= total):
                self._said = step.said = now
                self._say(f"{name}: {done} of {total}{step.speed(done, total, now)}")

    def _is_due(self, step: _Step, now: float, finished: bool) -> bool:
        if finished:
            return step.said is not None or now - self._said >= QUIET_SECONDS
        return now - (step.began if step.said is None else step.said) >= QUIET_SECONDS


@dataclass
class _Step:
    """A step under way: since when, with how many parts done then, and when it was last spoken of."""

    began: float
    begun_with: int
    said: float | None = None

    def speed(self, done: int, total: int, now: float) -> str:
        """Say how fast it goes; what was done before it was first heard of tells nothing of that."""
        if done <= self.begun_with or now <= self.began:
            return ""
        each = (now - self.began) / (done - self.begun_with)
        return f", {rate(each)}" + (f", {duration(each * (total - done))} left" if done < total else "")


def rate(each: float) -> str:
    """Write seconds a part while parts are slow, parts a second when they are fast."""
    return f"{each:.1f} s each" if each >= 1 else f"{1 / each:.0f} a second"


def duration(seconds: float) -> str:
    """Write a length of time for a person."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def _drawn(console: Console) -> Iterator[Listener]:
    """Show a bar for each step; a finished step's bar goes away."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        RateColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = progress.add_task(visible(step), total=total)
            task = tasks[step]
            progress.update(task, completed=done, total=total)
            if done >= total:
                progress.remove_task(tasks.pop(step))

        yield show


@contextmanager
def _logged(console: Console) -> Iterator[Listener]:
    yield LogLines(lambda line: console.print(Text(visible(line)), soft_wrap=True))
