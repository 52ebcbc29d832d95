"""Records as tests compare them."""

from __future__ import annotations

import json
from typing import Any

from metrics.record import QueryRecord
from programs.runner.folder import sealed


def timeless(record: QueryRecord) -> dict[str, Any]:
    """Give a record without what may differ between two runs of the same thing."""
    plain: dict[str, Any] = json.loads(record.model_dump_json(exclude={"latency", "check"}))
    for call in plain["calls"]:
        call.pop("seconds")
    return plain


def sealed_row(row: dict[str, Any]) -> bytes:
    """Write a record's JSON as a line of a run that adds up, as someone who forges one would."""
    return sealed(json.dumps({key: value for key, value in row.items() if key != "check"}).encode())
