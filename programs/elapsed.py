"""How long something took, as records say it."""

from __future__ import annotations

import time


def elapsed(started: float, ended: float | None = None) -> float:
    """Give the seconds between two readings of `time.perf_counter`, the second being now unless it is given.

    Never less than none: the clock of a machine that was suspended or moved can come back earlier than it left, and a
    record that says that a call took less than no time would make every mean of it wrong.
    """
    return max(0.0, (time.perf_counter() if ended is None else ended) - started)
