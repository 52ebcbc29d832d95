"""Progress without a terminal: lines that come seldom, and say how far, how fast and how long still."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from programs.progress import report
from programs.report.bars import QUIET_SECONDS, LogLines, bars, duration


class Log:
    """Log lines with a clock that the test moves."""

    def __init__(self):
        self.now = 1000.0
        self.lines = []
        self.show = LogLines(self.lines.append, lambda: self.now)

    def after(self, seconds, step, done, total):
        self.now += seconds
        self.show(step, done, total)


@pytest.fixture
def log():
    return Log()


def test_a_long_step_is_spoken_of_now_and_then_and_when_it_ends(log):
    log.after(0, "encoding", 0, 100)
    for done in range(1, 101):
        log.after(2, "encoding", done, 100)
    assert log.lines[0] == "encoding: 15 of 100, 2.0 s each, 2 min 50 s left"
    assert log.lines[-1] == "encoding: 100 of 100, 2.0 s each"
    assert len(log.lines) == 7


def test_a_fast_step_has_parts_a_second(log):
    log.after(0, "encoding", 0, 5000)
    log.after(50, "encoding", 1000, 5000)
    assert log.lines == ["encoding: 1000 of 5000, 20 a second, 3 min 20 s left"]


def test_what_was_done_before_the_first_report_does_not_count_as_speed(log):
    log.after(0, "queries", 90, 100)
    log.after(40, "queries", 94, 100)
    assert log.lines == ["queries: 94 of 100, 10.0 s each, 1 min 0 s left"]


def test_a_first_report_that_is_also_the_last_has_no_rate(log):
    log.after(0, "runs", 3, 3)
    assert log.lines == ["runs: 3 of 3"]


def test_a_step_with_nothing_to_do_is_not_spoken_of(log):
    log.after(0, "queries", 0, 0)
    assert log.lines == []


def test_short_steps_that_come_for_every_query_do_not_fill_the_log(log):
    for number in range(60):
        for done in range(4):
            log.after(0.5, f"trial {number}" if number % 2 else "encoding", done, 3)
    assert len(log.lines) == 4
    assert all(line.endswith(": 3 of 3, 2 a second") for line in log.lines)


def test_steps_inside_each_other_are_spoken_of_apart(log):
    log.after(0, "vanilla", 0, 2)
    log.after(0, "encoding", 0, 1000)
    log.after(31, "encoding", 100, 1000)
    log.after(1, "vanilla", 1, 2)
    assert [line.split(":")[0] for line in log.lines] == ["encoding", "vanilla"]


def test_a_step_that_begins_again_is_timed_from_its_new_beginning(log):
    log.after(0, "encoding", 0, 100)
    log.after(5, "encoding", 50, 100)
    log.after(1000, "encoding", 0, 100)
    log.after(40, "encoding", 10, 100)
    assert log.lines == ["encoding: 10 of 100, 4.0 s each, 6 min 0 s left"]


@given(waits=st.lists(st.floats(0, 100), min_size=1, max_size=60))
def test_a_step_under_way_never_speaks_twice_within_the_quiet_time(waits):
    log, times = Log(), []
    log.show = LogLines(lambda line: times.append(log.now), lambda: log.now)
    for done, wait in enumerate(waits):
        log.after(wait, "step", done, len(waits) + 1)
    assert all(later - earlier >= QUIET_SECONDS for earlier, later in pairwise(times))
    assert bool(times) == any(sum(waits[1:at]) >= QUIET_SECONDS for at in range(len(waits) + 1))


def test_without_a_terminal_every_reported_step_reaches_the_log():
    file = io.StringIO()
    with bars(Console(file=file, width=20)) as show:
        show("vanilla", 0, 2)
        report("a [bold]step[/bold] with a long name", 2, 2)
        show("vanilla", 2, 2)
    assert file.getvalue().startswith("a [bold]step[/bold] with a long name: 2 of 2")
    assert len(file.getvalue().splitlines()) == 1


def test_on_a_terminal_there_are_bars_and_no_lines():
    file = io.StringIO()
    with bars(Console(file=file, force_terminal=True, width=120)) as show:
        show("vanilla", 0, 2)
        show("vanilla", 2, 2)
    assert "0/2" in file.getvalue()
    assert "of 2" not in file.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_a_step_is_named_as_text(terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    with bars(console) as show:
        for done in range(3):
            show("[/red]a[blue]\x1b[2J", done, 2)
    shown = console.file.getvalue()
    assert "[/red]a[blue]" in shown
    assert "[blue]\x1b[2J" not in shown


def test_lengths_of_time_are_written_for_people():
    assert [duration(s) for s in (5, 65, 3700)] == ["5 s", "1 min 5 s", "1 h 1 min"]
