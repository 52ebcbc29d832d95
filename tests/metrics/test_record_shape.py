"""The records that metrics are tested on keep the schema that ships."""

import json
from importlib import resources

import jsonschema
import pytest

from tests.metrics.records import a_baseline_record, a_record, a_summary, an_incomplete_record


@pytest.mark.parametrize(
    "record",
    [a_record(), a_baseline_record(evidence=[a_summary("Herons and ferries.")]), an_incomplete_record()],
    ids=["released", "baseline", "incomplete"],
)
def test_the_records_of_these_tests_keep_the_published_schema(record):
    schema = json.loads((resources.files("programs") / "record.schema.json").read_text(encoding="utf-8"))
    written = json.loads(record.model_dump_json())
    jsonschema.validate(written, schema)
    assert set(written) == set(schema["properties"])
