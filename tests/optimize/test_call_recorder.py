"""What is remembered of a program's calls for the optimisers."""

from __future__ import annotations

import dspy

from optimize.prompts.call_recorder import CallRecorder
from programs.methods.selfrag.program import SelfRAG
from programs.models.engines.dry_run import rehearsed
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from tests.support.questions import ask
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.worlds import make_collection, small_settings


def test_what_a_call_was_asked_for_is_kept_and_not_how_likely_its_tokens_were():
    model = LanguageModel(
        ScriptedEngine(lambda asked: rehearsed(asked, asked.schema, costliest=False) if asked.schema else "the dome")
    )
    runtime = Runtime(small_settings(), model, model, HashedEncoder(), OverlapCrossEncoder())
    recorder = CallRecorder()
    with dspy.context(callbacks=[recorder]):
        record = ask(SelfRAG(runtime, "test"), make_collection(2))
    assert record.status == "completed"
    said = {step.predictor: set(step.outputs) for step in recorder.steps}
    assert said["retrieval.decide"] == {"retrieval"}
    assert said["reflection.reflect"] == {"reflection"}
    assert all("logprob" not in step.said for step in recorder.steps)
