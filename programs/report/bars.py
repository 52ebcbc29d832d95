"""Progress bars on stderr, with a rate, for steps that report themselves and for loops over queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

from programs.progress import listening


class RateColumn(ProgressColumn):
    """Seconds a part while parts are slow, parts a second when they are fast."""

    def render(self, task: Task) -> Text:
        """Show the mean rate so far."""
        elapsed = task.finished_time if task.finished else task.elapsed
        if not task.completed or not elapsed:
            return Text("")
        each = elapsed / task.completed
        return Text(f"{each:.1f} s each" if each >= 1 else f"{1 / each:.0f} a second")


@contextmanager
def bars(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each step that is reported; a finished step's bar goes away."""
    columns = (
        TextColumn("{task.description}"),
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
                tasks[step] = progress.add_task(step, total=total)
            task = tasks[step]
            progress.update(task, completed=done, total=total)
            if done >= total:
                progress.remove_task(tasks.pop(step))

        with listening(show):
            yield show
