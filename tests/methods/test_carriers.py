"""The carrier control and the contract's elements apart: what changes, what does not, and what a query leaves behind."""

from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from metrics.diagnostics import admission_violations, context_truncations
from metrics.funnel import fate
from metrics.record import Phase, Reference
from programs.contract import Reason
from programs.methods.staterag_free_form.parsing import named_in, scores_in, verdict_in
from programs.models.engines.dry_run import rehearsed, rehearsed_words
from programs.models.language_model import LanguageModel
from programs.models.ledger import current_scope
from programs.models.runtime import Runtime
from programs.report.carrier_tables import carrier_diagnostics, carrier_table, carrier_tokens, contract_table
from programs.report.console import commit_panel
from programs.report.names import CARRIERS, ELEMENTS, LONGBENCH
from programs.report.paper_tables import ablation_table
from programs.report.results import Results
from programs.runner.estimate import rehearse
from programs.runner.evaluate import evaluate
from programs.runner.folder import RunFolder
from programs.runner.scoring import score_tables
from programs.selection.compiled import Compiled, Prompt
from programs.selection.configured import ConfiguredMethod
from programs.state import Action, Role, StateField, VerdictLabel
from programs.workloads.query import Query
from tests.support.dying import Killed, dying
from tests.support.hostile import INJECTION
from tests.support.questions import QUESTION, ask
from tests.support.runs import ASKS_MODELS, make_evaluation, opinions, records_of, scripted_runtime
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.scripts import OPENINGS, PLAN, RoleScript, fail
from tests.support.worlds import make_collection, small_settings

TYPED, FREE = "staterag-typed", "staterag-free-form"
OWNED, TYPES = "staterag-types-ownership", "staterag-types-only"
METHODS = (TYPED, FREE, OWNED, TYPES)
ROLES = ("planner", "navigator", "retriever", "verifier")
STATE_FIELDS = (
    "Current retrieval state",
    "Committed plan",
    "Committed path",
    "Retrieval region",
    "Committed evidence",
    "Revision context",
)


def score_all(request):
    """Score every listed trace in words, higher numbers lower."""
    numbers = [line[1 : line.index("]")] for line in request.messages[-1].content.splitlines() if line[:1] == "["]
    return "I looked at all of them. " + " ".join(f"[{n}] gets {round(1 / (int(n) + 1), 3)}." for n in numbers)


def words(**answers):
    """What roles say in words, so that the same traces and records are chosen as in JSON."""
    said = {
        "planner": "Look for the observatory lens dome.",
        "navigator": score_all,
        "retriever": "I keep [1] and then [2], for they speak of it.",
        "verifier": "All of it is there.\nPASS",
        **answers,
    }
    return RoleScript(**said)


def script_for(name, **answers):
    return words(**answers) if name == FREE else RoleScript(**answers)


def opened(name, script=None, settings=None, compiled=None, context=8192, **branches):
    settings = settings or small_settings(**{**ASKS_MODELS, "lifecycle": {"bypass_leaves": 0}, **branches})
    model = LanguageModel(ScriptedEngine(script or script_for(name), context=context))
    runtime = Runtime(settings, model, model, HashedEncoder(), OverlapCrossEncoder())
    return ConfiguredMethod(name, settings, compiled).open(runtime, "test")


def prompt_of(script, role, turn=-1):
    return script.asked(role)[turn].messages[-1].content


# What is matched


@pytest.mark.parametrize("name", METHODS)
def test_nothing_of_a_query_is_left_in_global_memory_for_the_next(name):
    script = script_for(name)
    program = opened(name, script)
    records = [ask(program, position=position) for position in (0, 1)]
    assert all(record.is_complete and record.memory.hits == 0 for record in records)
    assert "plan of a similar query" not in prompt_of(script, "planner")
    assert len(program.pool._store) == 0
    assert not program.ordered


def test_with_global_memory_the_same_two_queries_would_meet():
    script = RoleScript()
    program = opened("staterag", script)
    ask(program)
    assert ask(program, position=1).memory.hits > 0
    assert "plan of a similar query" in prompt_of(script, "planner")


@pytest.mark.parametrize("name", METHODS)
def test_artifacts_of_the_query_itself_are_offered_again_within_it(name):
    missing = "The maker is missing. FAIL" if name == FREE else fail("the maker")
    script = script_for(name, verifier=missing)
    record = ask(opened(name, script))
    assert record.action is Action.FALLBACK
    *_, artifacts = record.committed(StateField.ARTIFACTS).values()
    assert artifacts
    assert artifacts[0] in prompt_of(script, "planner")


def test_typed_is_staterag_but_for_memory():
    full, typed = RoleScript(), RoleScript()
    whole, control = ask(opened("staterag", full)), ask(opened(TYPED, typed))
    assert [(role, request.messages, request.schema) for role, request in typed.requests] == [
        (role, request.messages, request.schema) for role, request in full.requests
    ]
    assert (control.evidence, control.states) == (whole.evidence, whole.states)


# Free-form: prompts


@pytest.mark.parametrize("role", ROLES)
def test_free_form_roles_have_the_same_instructions_and_room_and_no_wrapper_or_schema(role):
    typed, free = RoleScript(), words()
    ask(opened(TYPED, typed)), ask(opened(FREE, free))
    one, other = typed.asked(role)[0], free.asked(role)[0]
    assert other.messages[0] == one.messages[0]
    assert other.max_tokens == one.max_tokens
    assert (one.schema is None, other.schema) == (False, None)
    assert "Output JSON" in one.messages[-1].content
    assert "JSON" not in other.messages[-1].content
    assert other.messages[-1].content.endswith("Response:")


def test_free_form_prompts_have_the_trajectory_in_the_place_of_every_field():
    script = words(verifier=["The maker is missing. FAIL", "It is there now. PASS"])
    ask(opened(FREE, script))
    for role in ROLES:
        for request in script.asked(role):
            labels = [line[:-1] for line in request.messages[-1].content.splitlines() if line.endswith(":")]
            assert "Shared trajectory" in labels
            assert not set(labels) & set(STATE_FIELDS)


def test_the_trajectory_has_every_text_in_the_order_in_which_it_was_said_and_the_evidence():
    script = words(verifier=["The maker is missing. FAIL", "It is there now. PASS"])
    record = ask(opened(FREE, script))
    shown = prompt_of(script, "verifier")
    order = [
        shown.index(f"{role.capitalize()} ({cycle}): ")
        for cycle in (1, 2)
        for role in ROLES
        if (role, cycle) != ("verifier", 2)
    ]
    assert order == sorted(order)
    for item in record.evidence:
        assert f"({item.evidence_id})\n{item.text}" in shown
    assert prompt_of(script, "planner", 0).count("Shared trajectory:\nempty") == 1
    assert "The maker is missing. FAIL" in prompt_of(script, "planner")


def test_what_is_recorded_of_a_free_form_query_is_its_texts_and_every_reader_of_records_takes_them():
    record = ask(opened(FREE, words()))
    said = [commit for commit in record.states if commit.role is not Role.SMP]
    assert [commit.role.value for commit in said] == list(ROLES)
    assert all(isinstance(commit.value, str) for commit in said)
    assert said[-1].value == "All of it is there.\nPASS"
    assert admission_violations(record) == ()
    assert all(commit_panel(commit) for commit in record.states)
    reference = Reference(query_id=record.query_id, answers=("x",), supporting=(record.evidence[0].source_id,))
    assert fate(record, reference).furthest == ("admitted",)


def test_compiled_instructions_reach_the_free_form_roles_too():
    script = words()
    compiled = Compiled(
        method="staterag",
        preset="tiny",
        prompts={"planner.propose": Prompt(instructions="You are the Planner at work.")},
    )
    ask(opened(FREE, script, compiled=compiled))
    assert script.asked("planner")[0].messages[0].content == "You are the Planner at work."


def test_worked_examples_in_json_are_shown_where_json_is_asked_for_and_left_out_of_free_form():
    demo = {"query": "q", "state": "empty", "artifacts": "none", "revision": "none", "plan": json.loads(PLAN)}
    prompt = Prompt(instructions="You are the Planner at work.", demos=(demo,))
    compiled = Compiled(method="staterag", preset="tiny", prompts={"planner.propose": prompt})
    turns = {}
    for name in METHODS:
        script = script_for(name)
        ask(opened(name, script, compiled=compiled))
        turns[name] = [message.role for message in script.asked("planner")[0].messages]
    shown = ["system", "user", "assistant", "user"]
    assert turns == {TYPED: shown, OWNED: shown, TYPES: shown, FREE: ["system", "user"]}


# Free-form: tools


def test_roles_that_no_model_plays_append_what_their_tools_gave():
    settings = small_settings(
        lifecycle={"bypass_leaves": 0}, verifier={"rule": "coverage", "wants": "query", "threshold": 0.2}
    )
    script = words()
    record = ask(opened(FREE, script, settings))
    assert {role for role, _ in script.requests} <= {"planner", "reader", "abstraction"}
    texts = {commit.role: commit.value for commit in record.states}
    assert texts[Role.NAVIGATOR].startswith("Path: 0 → ")
    assert texts[Role.RETRIEVER].startswith("Evidence:\n\n(note-")
    assert texts[Role.VERIFIER].endswith((" PASS", " FAIL"))
    assert record.is_complete


def test_the_planners_words_are_the_query_of_the_tools(monkeypatch):
    asked = []
    plain = HashedEncoder.encode_queries
    monkeypatch.setattr(HashedEncoder, "encode_queries", lambda self, texts: asked.extend(texts) or plain(self, texts))
    ask(opened(FREE, words(), navigation={"scorer": {"embedding": 1.0}, "paths": "one"}))
    assert f"{QUESTION} Look for the observatory lens dome." in asked


def test_free_form_keeps_no_more_than_the_cap_though_it_names_more():
    everything = words(retriever="[1] [2] [3] [4] [5] [6] [7] all matter")
    record = ask(opened(FREE, everything, lifecycle={"bypass_leaves": 0, "keep_first": 3}))
    assert len(record.evidence) == 3


@pytest.mark.parametrize(
    ("role", "said", "reason"),
    [
        ("planner", "", Reason.MALFORMED),
        ("planner", "  \n", Reason.MALFORMED),
        ("navigator", "the second one looks best", Reason.MALFORMED),
        ("navigator", "[1] 0.5 [99] 0.9", Reason.UNKNOWN_NODE),
        ("retriever", "none of these help", Reason.MALFORMED),
        ("retriever", "[99]", Reason.MALFORMED),
        ("verifier", "it looks fine", Reason.MALFORMED),
        ("verifier", "it passes", Reason.MALFORMED),
        ("verifier", "so " * 500 + "PASS", Reason.TRUNCATED),
    ],
)
def test_words_without_what_a_tool_needs_end_the_query_unasked_again_and_unread(role, said, reason):
    script = words(**{role: said})
    record = ask(opened(FREE, script))
    assert [(each.role.value, each.reason) for each in record.rejections] == [(role, reason)]
    assert record.parse_failures == (reason is not Reason.UNKNOWN_NODE)
    assert len(script.asked(role)) == 1
    assert script.asked("reader") == []


def test_a_trajectory_that_outgrows_the_context_is_an_overflow_and_is_not_cut():
    script = words(verifier="because it is so " * 90 + "FAIL")
    settings = {"lifecycle": {"bypass_leaves": 0, "role_tokens": 600, "reader_budget": 60}}
    record = ask(opened(FREE, script, context=1100, **settings))
    assert [each.reason for each in record.rejections] == [Reason.OVER_CONTEXT]
    assert context_truncations(record) == 1
    assert script.asked("reader") == []


# Parsing


@pytest.mark.parametrize(
    ("said", "scores"),
    [
        ("[1] 0.9\n[2] .25\n[3] 1", {1: 0.9, 2: 0.25, 3: 1.0}),
        ("TRACE_ID: 1, SCORE: 0.8\nTRACE_ID: 2, SCORE: 0", {1: 0.8, 2: 0.0}),
        ("Trace 2 is best, with a score of 0.75.", {2: 0.75}),
        ("1. 0.5\n2) 0.75", {1: 0.5, 2: 0.75}),
        ('{"scores": [{"trace_id": 1, "score": 0.8}]}', {1: 0.8}),
        ("[1] 7/10 [2] 12 [3] 1.5 [4] 1st", {}),
        ("0.9", {}),
        ("", {}),
    ],
)
def test_scores_are_read_after_the_trace_that_they_are_of(said, scores):
    assert scores_in(said) == scores


def test_candidates_are_named_by_number_or_by_id_in_the_order_of_the_words():
    records = ask(
        opened(TYPED, lifecycle={"bypass_leaves": 0, "keep_first": 4}, retriever={"ranker": "embedding"})
    ).evidence
    a, b, c = records[:3]
    assert named_in(f"First {c.evidence_id}, then [1, 2] and [1] again; [9] is not there.", (a, b, c)) == (c, a, b)
    longer = a.model_copy(update={"evidence_id": a.evidence_id + "0"})
    assert named_in(longer.evidence_id, (a, longer)) == (longer,)
    assert named_in("1 and 2", (a, b)) == ()


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("PASS", VerdictLabel.PASS),
        ("This would not PASS as it stands. **FAIL**: the maker", VerdictLabel.FAIL),
        ("to pass or to fail", None),
        ("BYPASS", None),
    ],
)
def test_the_last_token_is_the_verdict(said, label):
    assert verdict_in(said) is label


# The contract's elements apart


def also(text, **more):
    return json.dumps({**json.loads(text), **more})


def selecting(*numbers):
    return json.dumps({"selected": list(numbers)})


@pytest.mark.parametrize("name", [OWNED, TYPES])
def test_without_validation_what_the_contract_refuses_is_committed_and_each_id_is_read_once(name):
    twice = selecting(1, 1, 2, 3, 4)
    branches = {"lifecycle": {"bypass_leaves": 0, "keep_first": 3}}
    refused = ask(opened(TYPED, RoleScript(retriever=twice), **branches))
    assert [each.reason for each in refused.rejections] == [Reason.OVER_CAP]
    record = ask(opened(name, RoleScript(retriever=twice), **branches))
    ids = [item.evidence_id for item in record.evidence]
    assert record.is_complete
    assert len(ids) == len(set(ids)) == 4
    assert len(record.committed_evidence()[1]) == 5
    assert admission_violations(record) == ()


@pytest.mark.parametrize("name", METHODS)
def test_a_fail_must_say_what_is_missing_only_where_values_are_validated(name):
    mute = "FAIL" if name == FREE else fail("")
    record = ask(opened(name, script_for(name, verifier=mute)))
    assert record.is_complete == (name != TYPED)


def test_with_types_only_every_role_is_asked_its_own_field_and_may_give_any_other():
    script, typed = RoleScript(), RoleScript()
    ask(opened(TYPES, script)), ask(opened(TYPED, typed))
    for role in ROLES:
        one, other = typed.asked(role)[0], script.asked(role)[0]
        assert other.messages[0] == one.messages[0]
        assert other.max_tokens == one.max_tokens
        assert other.schema["required"] == one.schema["required"]
        assert set(one.schema["properties"]) < set(other.schema["properties"])
        assert "optional: " in other.messages[-1].content


def test_with_types_only_a_verifier_may_replace_the_evidence_that_the_reader_sees():
    collection = make_collection()
    other = ask(opened(TYPED), collection, question="cello hall score").evidence[-1].evidence_id
    judged = also(json.dumps({"verdict": "PASS", "justification": "there"}), evidence=[other])
    record = ask(opened(TYPES, RoleScript(verifier=judged)), collection)
    assert [item.evidence_id for item in record.evidence] == [other]
    assert [(each.role, each.field) for each in record.states[-2:]] == [
        (Role.VERIFIER, StateField.VERDICT),
        (Role.VERIFIER, StateField.EVIDENCE),
    ]
    assert admission_violations(record) == ()
    for name in (OWNED, TYPED):
        assert [r.reason for r in ask(opened(name, RoleScript(verifier=judged)), collection).rejections] == [
            Reason.MALFORMED
        ]


def test_with_types_only_what_is_written_last_stands():
    planned = also(PLAN, verdict="FAIL", justification="too early")
    record = ask(opened(TYPES, RoleScript(planner=planned)))
    assert record.action is Action.RELEASE
    assert [commit.value["label"] for commit in record.states if commit.field is StateField.VERDICT] == ["FAIL", "PASS"]
    replanned = also(selecting(1), objective="another thing", targets=["cello"])
    script = RoleScript(retriever=replanned, verifier=fail("x"))
    ask(opened(TYPES, script))
    assert "another thing" in prompt_of(script, "planner")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"justification": "no verdict"}, Reason.VERDICT_LABEL),
        ({"evidence": ["nowhere#0-4"]}, Reason.UNKNOWN_NODE),
        ({"path": [[]]}, Reason.NOT_FROM_ROOT),
        ({"path": "there"}, Reason.MALFORMED),
    ],
)
def test_with_types_only_a_write_of_another_type_is_still_refused(more, reason):
    record = ask(opened(TYPES, RoleScript(planner=also(PLAN, **more))))
    assert [each.reason for each in record.rejections] == [reason]
    assert record.evidence == []


# Hostile completions


HOSTILE = {
    "planner": [
        PLAN,
        also(PLAN, verdict="PASS"),
        also(PLAN, path=[[0, 999], [-4]]),
        also(PLAN, evidence=["note-0.md#0-3"]),
    ],
    "navigator": [None, '{"scores": []}', '{"scores": [{"trace_id": 1, "score": 0.5}], "verdict": "PASS"}'],
    "retriever": [
        selecting(1, 2),
        selecting(2, 2),
        selecting(*range(1, 9)),
        selecting(0),
        also(selecting(1), path=[[7]]),
    ],
    "verifier": [fail("x"), fail(""), '{"verdict": "PASS", "justification": ""}', '{"verdict": "RELEASE"}'],
}
SAID = {
    "planner": ["Find the lens.", "PASS RELEASE [1] 0.9"],
    "navigator": [None, "[1] 0.5", "[0] 0.5", "[1] 0.1 [1] 0.9"],
    "retriever": ["[1] [2]", "[2, 2, 1]", "[1, 2, 3, 4, 5, 6, 7, 8]", "nothing"],
    "verifier": ["PASS", "FAIL", "PASS. No: FAIL", "bypass"],
}
ANY = ["", " ", "null", "{}", "\x00", INJECTION, "🚢" * 40]


def hostile(name, role):
    usual = SAID if name == FREE else HOSTILE
    scorer = score_all if name == FREE else RoleScript().answers["navigator"]
    return st.sampled_from([*usual[role] * 3, *ANY]).map(lambda said: scorer if said is None else said)


PROGRAMS = {}


@pytest.mark.parametrize("name", METHODS)
@examples(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_I3_I6_no_completion_of_any_role_leads_to_a_violation_of_admission(name, data):
    turns = {role: [data.draw(hostile(name, role)) for _ in range(2)] for role in ROLES}
    script = RoleScript(**turns)
    if name not in PROGRAMS:
        PROGRAMS[name] = opened(name)
    program = PROGRAMS[name]
    program.runtime.reader.engine._script = script
    collection = make_collection()
    record = ask(program, collection)
    assert admission_violations(record) == ()
    assert len(script.asked("reader")) == record.is_complete == (record.action is not None)
    for item in record.evidence:
        assert collection.texts[item.source_id][item.start : item.end] == item.text


# Constrained decoding


def obedient(request):
    if request.schema is not None:
        return rehearsed(request, request.schema, costliest=False)
    return rehearsed_words(request, current_scope().role, costliest=False)


@pytest.mark.parametrize("name", METHODS)
def test_an_engine_that_keeps_to_schemas_leaves_no_parse_failure(name):
    records = [ask(opened(name, obedient), make_collection(sources=4 + i)) for i in range(4)]
    assert all(record.is_complete for record in records)
    assert sum(record.parse_failures for record in records) == 0


@pytest.mark.parametrize("name", [TYPED, OWNED, TYPES])
def test_unconstrained_the_prompts_are_the_same_and_no_schema_reaches_the_engine(name):
    held, free = RoleScript(), RoleScript()
    ask(opened(name, held))
    ask(opened(name, free, lifecycle={"bypass_leaves": 0, "constrained": False}))
    assert [request.messages for _, request in free.requests] == [request.messages for _, request in held.requests]
    assert all(request.schema is None for _, request in free.requests)
    assert any(request.schema for _, request in held.requests)


def test_unconstrained_a_completion_is_read_strictly_and_asked_for_once():
    script = RoleScript(planner=f"```json\n{PLAN}\n```")
    record = ask(opened(TYPED, script, lifecycle={"bypass_leaves": 0, "constrained": False}))
    assert (record.parse_failures, len(script.asked("planner"))) == (1, 1)
    assert not record.is_complete


def test_a_free_form_carrier_is_never_constrained_so_the_setting_changes_nothing():
    held, free = words(), words()
    ask(opened(FREE, held))
    ask(opened(FREE, free, lifecycle={"bypass_leaves": 0, "constrained": False}))
    assert [request for _, request in free.requests] == [request for _, request in held.requests]


# Runs, estimates and reports


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("constrained", [True, False])
def test_an_estimate_rehearses_every_role_up_to_the_reader(name, constrained):
    settings = small_settings(**ASKS_MODELS, lifecycle={"bypass_leaves": 0, "constrained": constrained})
    evaluation = make_evaluation(name, settings, queries=2)
    runtime = scripted_runtime(settings)
    for costliest in (False, True):
        for record in rehearse(evaluation.methods[0], evaluation, runtime, evaluation.queries[:2], costliest):
            assert record.is_complete
            assert record.cycles == (2 if costliest else 1)
    assert runtime.reader.engine.requests == []


@pytest.mark.parametrize("name", [FREE, TYPES])
def test_I8_a_run_that_is_killed_and_resumed_gives_the_same_records_and_asks_nothing_twice(name, tmp_path):
    answering = said_in_words if name == FREE else opinions
    evaluation = make_evaluation(name, queries=5)
    manifest = evaluation.manifest()
    evaluate(evaluation, manifest, whole := scripted_runtime(script=answering), tmp_path / "whole")
    asked = []
    dies_after = partial(dying, answering, asked)
    with pytest.raises(Killed):
        evaluate(evaluation, manifest, scripted_runtime(script=dies_after(9)), tmp_path / "run", resume=True)
    evaluate(evaluation, manifest, scripted_runtime(script=dies_after(-1)), tmp_path / "run", resume=True)
    assert records_of(tmp_path / "run") == records_of(tmp_path / "whole")
    assert sorted(map(str, asked)) == sorted(map(str, whole.reader.engine.requests))


def said_in_words(request):
    """Answer as a function of the prompt alone, in words where no schema is asked for."""
    if request.schema is not None or any(
        request.messages[0].content.startswith(OPENINGS[role]) for role in ("reader", "abstraction")
    ):
        return opinions(request)
    role = next(role for role in ROLES if request.messages[0].content.startswith(OPENINGS[role]))
    return rehearsed_words(request, role, costliest=len(request.messages[-1].content) % 2 == 0)


def test_a_run_of_them_all_fills_the_carrier_tables_and_the_table_of_elements(tmp_path):
    tables = []
    for task in LONGBENCH:
        evaluation = make_evaluation(",".join(METHODS), queries=3, name=task)
        folder = tmp_path / task.replace("/", "-")
        evaluate(evaluation, evaluation.manifest(), scripted_runtime(script=said_in_words), folder)
        tables += score_tables(RunFolder(folder))
    results = Results(tables)
    assert [row.label for row in carrier_table(results).rows] == ["Typed, role-owned", "Free-form shared"]
    assert [row.label for row in carrier_tokens(results).rows][-1] == "Typed minus Free-form"
    diagnostics = {row.label: [cell.value for cell in row.cells] for row in carrier_diagnostics(results).rows}
    assert diagnostics["Total queries"] == [9, 9]
    assert diagnostics["Reader admission violations"] == [0, 0]
    elements = contract_table(results)
    assert [row.label for row in elements.rows] == ["Types", "Types + ownership", "Types + ownership + validation"]
    violations = [column.key for column in elements.columns].index("admission_violations")
    assert [row.cells[violations].value for row in elements.rows] == [0, 0, 0]
    assert ablation_table(results) is None


def test_the_sides_of_the_control_and_the_elements_stand_in_the_papers_order():
    assert list(CARRIERS) == [TYPED, FREE]
    assert list(ELEMENTS) == [TYPES, OWNED, TYPED]


def test_a_query_may_be_bypassed_by_any_carrier():
    for name in METHODS:
        program = opened(name, lifecycle={"bypass_leaves": 500, "reader_budget": 4096})
        record = program.run(Query(query_id="q", question=QUESTION, collection=make_collection(2), position=0))
        assert record.action is Action.BYPASS
        assert [call.phase for call in record.calls if call.phase is not Phase.INDEX] == [Phase.READER]
