"""Records as tests compare them."""

from __future__ import annotations

import json
from typing import Any

from metrics.record import QueryRecord


def timeless(record: QueryRecord) -> dict[str, Any]:
    """Give a record without what may differ between two runs of the same thing."""
    plain: dict[str, Any] = json.loads(record.model_dump_json(exclude={"latency"}))
    for call in plain["calls"]:
        call.pop("seconds")
    return plain
