"""The record has a published, versioned schema."""

from __future__ import annotations

import json
from importlib import resources

from metrics.record import RECORD_VERSION, record_schema


def test_the_schema_file_is_the_one_that_the_code_writes():
    shipped = json.loads((resources.files("programs") / "record.schema.json").read_text(encoding="utf-8"))
    assert shipped == record_schema(), "write programs/record.schema.json anew, and raise RECORD_VERSION if it broke"
    assert shipped["properties"]["version"]["const"] == RECORD_VERSION
