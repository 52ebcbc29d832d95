"""How many examples a property that reads files or talks to processes is tried on; a long campaign raises it."""

from __future__ import annotations

import os


def examples(modest: int) -> int:
    return max(modest, int(os.environ.get("STATERAG_EXAMPLES", "0")))
