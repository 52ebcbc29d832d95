"""Whatever a compiled file or a lock holds, reading it gives a valid one or says what is wrong."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from programs.selection.compiled import read_file, shipped_folder
from programs.selection.configured import configure
from programs.selection.leakage import open_selection
from programs.selection.lock import LOCK, read_lock
from tests.support.examples import fuzzed
from tests.support.mutations import hostile, taken_or_refused
from tests.support.runs import scripted_runtime

FOLDER = shipped_folder() / "embedded"
WITH_PROMPTS = {
    "version": 1,
    "method": "staterag",
    "preset": "tiny",
    "parameters": {"lifecycle.cycles": 2, "verifier.threshold": 0.5, "retriever.ranker": "fusion"},
    "prompts": {
        "planner.propose": {
            "instructions": "Plan.",
            "demos": [{"query": "Who?", "plan": {"objective": "find", "targets": ["who"]}}],
        },
        "reader.answer": {
            "instructions": "Read.",
            "demos": [{"question": "Who?", "evidence": "Ida.", "answer": "Ida"}],
        },
    },
}


@fuzzed(150)
@given(data=hostile((FOLDER / "staterag.json").read_bytes()))
def test_a_shipped_file_with_anything_changed_is_taken_or_refused(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("c") / "staterag.json"
    file.write_bytes(data)
    taken_or_refused(lambda: read_file(file))


@fuzzed(100)
@given(data=hostile(json.dumps(WITH_PROMPTS).encode()))
def test_prompts_with_anything_changed_are_loaded_into_a_program_or_refused(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("c") / "staterag.json"
    file.write_bytes(data)

    def load():
        with configure("staterag", "tiny", [], file).open(scripted_runtime()):
            pass

    taken_or_refused(load)


@fuzzed(100)
@given(data=hostile((FOLDER / LOCK).read_bytes()), name=st.just(LOCK) | st.sampled_from(["vanilla.json", "react.json"]))
def test_a_lock_or_a_locked_file_with_anything_changed_is_what_it_was_or_refused(tmp_path_factory, data, name):
    folder = tmp_path_factory.mktemp("lock")
    for file in FOLDER.glob("*.json"):
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / name).write_bytes(data)
    said = taken_or_refused(lambda: read_lock(folder))
    if said is None:
        assert read_lock(folder) == read_lock(FOLDER)
    assert taken_or_refused(lambda: open_selection(folder)) == said
