"""Long steps say how far they are."""

from __future__ import annotations

from programs.progress import counted, listening
from programs.report.bars import LogLines


def test_a_step_is_told_from_none_done_to_all_done():
    told = []
    with listening(lambda *step: told.append(step)):
        parts = [(part, told[-1]) for part in counted("reading", "abc")]
    assert parts == [("a", ("reading", 0, 3)), ("b", ("reading", 1, 3)), ("c", ("reading", 2, 3))]
    assert told[-1] == ("reading", 3, 3)


def test_a_part_that_is_not_finished_is_not_told_as_done():
    told, parts = [], counted("reading", "ab")
    with listening(lambda *step: told.append(step)):
        next(parts)
        parts.close()
    assert told == [("reading", 0, 2)]


def test_the_first_part_counts_in_the_rate_that_a_log_tells():
    now, said = [0.0], []
    with listening(LogLines(said.append, lambda: now[0])):
        for _ in counted("gists", "ab"):
            now[0] += 40.0
    assert said == ["gists: 1 of 2, 40.0 s each, 40 s left", "gists: 2 of 2, 40.0 s each"]
