"""The objects that metrics are tested on are those that the program writes."""

import json
from importlib import resources

import jsonschema
import pytest

from programs.workloads.query import Reference
from tests.metrics.records import a_baseline_record, a_record, a_reference, a_summary, an_incomplete_record


@pytest.mark.parametrize(
    "record",
    [a_record(), a_baseline_record(evidence=[a_summary("Herons and ferries.")]), an_incomplete_record()],
    ids=["released", "baseline", "incomplete"],
)
def test_the_records_of_these_tests_keep_the_published_schema(record):
    schema = json.loads((resources.files("programs") / "record.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(record, schema)
    assert set(record) == set(schema["properties"])


def test_the_references_of_these_tests_are_those_of_a_workload():
    reference = a_reference()
    assert Reference.model_validate(reference).model_dump(mode="json") == reference
