"""What makes the clocks of a process jump."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

JUMPS = (-1e9, -86_400.0, -3.0, -0.01, 0.0, 0.01, 3.0, 86_400.0, 1e9)


def jump(seed: int) -> None:
    """Have every clock of this process jump now and then, for good."""
    draw = random.Random(seed)
    for name in ("time", "perf_counter", "monotonic"):
        setattr(time, name, jumping(getattr(time, name), draw))


def jumping(clock: Callable[[], float], draw: random.Random) -> Callable[[], float]:
    shift = 0.0

    def now() -> float:
        nonlocal shift
        if draw.random() < 0.3:
            shift = draw.choice(JUMPS)
        return clock() + shift

    return now
