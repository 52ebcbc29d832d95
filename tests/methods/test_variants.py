"""StateRAG without one of its parts: that part is gone, and everything else is StateRAG's."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

from metrics.diagnostics import admission_violations
from optimize.options import ParameterRequest
from optimize.search_start import open_start
from programs.errors import InputError
from programs.methods import registry
from programs.methods.base import QueryRun
from programs.methods.registry import spec, specs
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.report.component_figures import mars_panel
from programs.report.names import REMOVALS
from programs.report.paper_tables import ablation_differences, ablation_table
from programs.report.results import Results
from programs.runner.evaluate import evaluate
from programs.runner.folder import RunFolder
from programs.runner.scoring import score_tables
from programs.selection.compiled import Compiled, Prompt
from programs.selection.configured import ConfiguredMethod, configure
from programs.state import Action, Role, StateField
from programs.tam.store import load_graph, save_graph
from programs.workloads.query import Query
from tests.support.dying import Killed, dying
from tests.support.questions import ask
from tests.support.runs import ASKS_MODELS, make_evaluation, opinions, records_of, scripted_runtime
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.scripts import RoleScript, fail
from tests.support.worlds import make_collection, small_settings

VARIANTS = [one.name for one in specs().values() if one.base == "staterag"]
TAM, MARS, SMP = "staterag-without-tam", "staterag-without-mars", "staterag-without-smp"
UNASKED = {"staterag": set(), TAM: {"navigator", "abstraction"}, MARS: {"verifier"}, SMP: set()}
"""Whom a variant no longer asks."""


def opened(name, script=None, settings=None, compiled=None, **branches):
    settings = settings or small_settings(**{**ASKS_MODELS, "lifecycle": {"bypass_leaves": 0}, **branches})
    model = LanguageModel(ScriptedEngine(script or RoleScript()))
    runtime = Runtime(settings, model, model, HashedEncoder(), OverlapCrossEncoder())
    return ConfiguredMethod(name, settings, compiled).open(runtime, "test")


def asked_of(name, **changes):
    script = RoleScript()
    ask(opened(name, script, **changes))
    return script


def test_the_three_removals_of_the_paper_are_variants_of_staterag_in_its_order():
    assert [name for name in VARIANTS if name in REMOVALS] == [TAM, MARS, SMP]
    assert list(REMOVALS.values()) == ["w/o TAM", "w/o MARS", "w/o SMP"]


def test_a_variant_of_a_method_that_there_is_not_is_said(monkeypatch):
    broken = replace(registry.import_module("programs.methods.vanilla").SPEC, name="mine", base="nobody")
    registry.specs.cache_clear()
    monkeypatch.setattr(
        registry, "entry_points", lambda group: [type("Point", (), {"value": "x", "load": lambda s: broken})()]
    )
    try:
        with pytest.raises(InputError, match="mine is a variant of 'nobody'"):
            specs()
    finally:
        monkeypatch.undo()
        registry.specs.cache_clear()


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_runs_with_the_settings_and_the_compiled_program_of_staterag(name):
    full, less = (configure(method, "embedded", ["lifecycle.cycles=3"]) for method in ("staterag", name))
    assert less.settings.digest == full.settings.digest
    assert less.compiled == full.compiled
    assert less.file == full.file
    assert (less.name, spec(name).space) == (name, spec("staterag").space)


@pytest.mark.parametrize("name", REMOVALS)
def test_the_roles_that_remain_have_staterags_prompts_and_budgets_and_no_other_role_is_asked(name):
    full, less = asked_of("staterag"), asked_of(name)
    roles = {role for role, _ in full.requests}
    assert {role for role, _ in less.requests} == roles - UNASKED[name]
    for role in roles - UNASKED[name]:
        one, other = full.asked(role)[0], less.asked(role)[0]
        assert other.messages[0] == one.messages[0]
        assert (other.max_tokens, other.schema) == (one.max_tokens, one.schema)
        if name != TAM or role == "planner":  # what is removed changes what later roles are shown, but not how
            assert other.messages == one.messages


@pytest.mark.parametrize("name", ["staterag", *REMOVALS])
def test_evidence_keeps_to_the_same_caps_and_the_same_budget(name):
    everything = RoleScript(retriever=lambda request: json.dumps({"selected": list(range(1, 4))}))
    settings = {"lifecycle": {"bypass_leaves": 0, "keep_first": 3, "reader_budget": 30}}
    record = ask(opened(name, everything, **settings))
    assert record.is_complete
    assert sum(len(HashedEncoder().spans(item.text)) for item in record.evidence) == 30
    assert len(record.evidence) <= 3


@pytest.mark.parametrize("name", REMOVALS)
def test_compiled_prompts_reach_the_roles_that_remain_and_those_of_removed_ones_are_left_out(name):
    roles = {"planner.propose": "planner", "navigator.score": "navigator", "verifier.judge": "verifier"}
    prompts = {predictor: Prompt(instructions=f"{_opening(role)} at work.") for predictor, role in roles.items()}
    script = asked_of(name, compiled=Compiled(method="staterag", preset="tiny", prompts=prompts))
    told = {role for role, request in script.requests if request.messages[0].content.endswith(" at work.")}
    assert told == set(roles.values()) - UNASKED[name]


def _opening(role):
    return {"planner": "You are the Planner", "navigator": "You score candidate", "verifier": "You are the Verifier"}[
        role
    ]


def test_a_compiled_prompt_for_a_role_that_no_method_has_is_refused_where_nothing_was_removed():
    compiled = Compiled(method="staterag", preset="tiny", prompts={"nobody.asks": Prompt(instructions="Do.")})
    with pytest.raises(InputError, match=r"prompts for nobody\.asks"):
        opened("staterag", compiled=compiled)


def test_a_variant_is_not_searched_but_its_base(tmp_path):
    with pytest.raises(InputError, match="search staterag instead"):
        open_start(ParameterRequest(method=MARS, workload="sample", out=tmp_path / "x.json", trials=1))


# Without TAM


def test_without_tam_candidates_are_the_nearest_of_all_regions_for_the_query_and_the_targets_in_turn():
    branches = {"retriever": {"ranker": "model", "rerank": 6}}
    program = opened(TAM, **branches)
    collection = make_collection()
    record = ask(program, collection, question="Which dome holds the lens?")
    considered = {each.role.value: each.evidence_ids for each in record.considered}
    assert len(considered["retriever"]) == 6
    assert considered["navigator"] == considered["retriever"]
    graph = program._graph(_run_on(program, collection), program.pool.open("x", 1, "x", collection))
    encoder = program.runtime.encoder
    wanted = ["Which dome holds the lens?", "observatory lens dome", "harbour ferry pier"]
    ranked = []
    for want in wanted:
        cosines = (graph.vectors @ encoder.encode_queries([want])[0]).round(6)
        ranked.append(sorted(graph.evidence_nodes, key=lambda node: (-cosines[node], node)))
    turns = dict.fromkeys(node for turn in zip(*ranked, strict=True) for node in turn)
    assert list(considered["retriever"]) == [graph.record(node, 1).evidence_id for node in list(turns)[:6]]


def _run_on(program, collection):
    return QueryRun(Query(query_id="x", question="x", collection=collection, position=1), program.runtime)


def test_without_tam_the_path_is_a_completed_trace_for_each_candidate_and_spends_no_call():
    record = ask(opened(TAM))
    (path,) = record.committed(StateField.PATH).values()
    assert {len(trace) for trace in path} == {4}
    assert len({trace[-1] for trace in path}) == len(path) > 1
    assert record.tokens.index == 0
    assert {call.role for call in record.calls} == {"planner", "retriever", "verifier", "reader"}


def test_without_tam_a_record_outside_its_candidates_is_still_rejected_and_fails_still_revise():
    outside = RoleScript(retriever='{"selected": [99]}')
    assert [r.reason.value for r in ask(opened(TAM, outside)).rejections] == ["outside_region"]
    record = ask(opened(TAM, RoleScript(verifier=fail("more"))))
    assert (record.action, record.cycles) == (Action.FALLBACK, 2)


def test_without_tam_no_candidate_goes_before_a_better_one_for_being_where_a_trace_ends():
    wanted = (["observatory lens", "lens dome star"], ["zebra quartz", "violin xylem"])
    plans = [json.dumps({"objective": "x", "targets": targets}) for targets in wanted]
    script = RoleScript(planner=plans, verifier=fail("more"))
    caps = {"bypass_leaves": 0, "keep_first": 3, "keep_revised": 3}
    ranked = {"retriever": {"ranker": "embedding", "terminals": True, "rerank": 3}, "lifecycle": caps}
    record = ask(opened(TAM, script, **ranked))
    first, second = record.committed_evidence().values()
    ends = next(each.evidence_ids for each in record.considered if each.role is Role.NAVIGATOR and each.cycle == 2)
    carried = {item.evidence_id for item in first} - set(ends)
    assert carried
    assert carried & {item.evidence_id for item in second}


def test_without_tam_the_graph_is_written_and_read_again(tmp_path):
    program = opened(TAM)
    collection = make_collection()
    graph = program._graph(_run_on(program, collection), program.pool.open("x", 1, "x", collection))
    save_graph(graph, tmp_path)
    assert load_graph(tmp_path).parts.edges == graph.parts.edges
    assert all(graph.region(node) == (node,) for node in graph.evidence_nodes)


# Without MARS


def test_without_mars_there_is_one_pass_and_no_state_verdict_or_action():
    script = RoleScript(verifier=fail("more"))
    record = ask(opened(MARS, script))
    assert record.status == "completed"
    assert (record.states, record.action, record.cycles, record.rejections) == ([], None, 0, [])
    assert len(script.asked("planner")) == len(script.asked("reader")) == 1
    assert admission_violations(record) == ()


def test_without_mars_what_a_contract_would_reject_is_read_each_id_once_and_within_the_cap():
    twice = RoleScript(retriever=json.dumps({"selected": [1, 1, 2, 3, 4, 5, 6, 7]}))
    branches = {"lifecycle": {"bypass_leaves": 0, "keep_first": 5}}
    assert not ask(opened("staterag", twice, **branches)).is_complete
    record = ask(opened(MARS, twice, **branches))
    ids = [item.evidence_id for item in record.evidence]
    assert record.is_complete
    assert len(ids) == len(set(ids)) == 4


@pytest.mark.parametrize("role", ["planner", "navigator", "retriever"])
def test_without_mars_a_role_without_a_proposal_ends_the_query_is_asked_once_and_leaves_nothing(role):
    script = RoleScript(**{role: "not json"})
    program = opened(MARS, script)
    record = ask(program)
    assert (record.status, record.parse_failures, record.rejections) == ("incomplete", 1, [])
    assert record.error.startswith("malformed")
    assert len(script.asked(role)) == 1
    assert script.asked("reader") == []
    assert len(program.pool._store) == 0


def test_without_mars_a_later_query_still_finds_what_this_one_left_in_memory():
    script = RoleScript()
    program = opened(MARS, script)
    ask(program)
    record = ask(program, position=1)
    assert record.memory.hits > 0
    assert "plan of a similar query: find the lens" in script.asked("planner")[-1].messages[-1].content


# Without SMP


def test_without_smp_nothing_is_resolved_read_offered_or_written(tmp_path):
    script = RoleScript(verifier=fail("more"))
    settings = small_settings(**ASKS_MODELS, lifecycle={"bypass_leaves": 0})
    program = ConfiguredMethod(SMP, settings).open(
        scripted_runtime(settings, script=script), "test", None, tmp_path / "m"
    )
    first, second = ask(program), ask(program, position=1)
    program.resume(frozenset({0}))
    program.close()
    assert not (tmp_path / "m").exists()
    for record in (first, second):
        assert (record.memory.reads, record.memory.hits, record.refusals) == (0, 0, [])
        assert set(map(tuple, record.committed(StateField.ARTIFACTS).values())) == {()}
    for request in script.asked("planner"):
        assert "Available artifact identifiers:\nnone" in request.messages[-1].content
    assert not program.ordered


def test_without_smp_a_revision_knows_of_the_cycle_before_by_the_state_alone():
    script = RoleScript(verifier=fail("the maker of the dome"))
    ask(opened(SMP, script))
    last = script.asked("planner")[-1].messages[-1].content
    assert "the maker of the dome" in last
    assert "previous plan: find the lens" in last


# Runs and reports


@pytest.mark.parametrize("name", REMOVALS)
def test_I8_a_variant_that_is_killed_and_resumed_gives_the_same_records_and_asks_nothing_twice(name, tmp_path):
    evaluation = make_evaluation(name, queries=6)
    manifest = evaluation.manifest()
    assert manifest.methods[0].name == name
    evaluate(evaluation, manifest, whole := scripted_runtime(), tmp_path / "whole")
    asked = []
    dies_after = partial(dying, opinions, asked)
    for limit in (3, 8):
        with pytest.raises(Killed):
            evaluate(evaluation, manifest, scripted_runtime(script=dies_after(limit)), tmp_path / "run", resume=True)
    evaluate(evaluation, manifest, scripted_runtime(script=dies_after(-1)), tmp_path / "run", resume=True)
    assert records_of(tmp_path / "run") == records_of(tmp_path / "whole")
    assert asked == whole.reader.engine.requests


def test_a_run_of_all_variants_fills_the_tables_and_the_figure_of_ablations(tmp_path):
    evaluation = make_evaluation(",".join(["staterag", *REMOVALS]), queries=6, name="qasper")
    evaluate(evaluation, evaluation.manifest(), scripted_runtime(), tmp_path)
    results = Results(score_tables(RunFolder(tmp_path)))
    assert [row.label for row in ablation_table(results).rows] == [*REMOVALS.values(), "Full"]
    assert [row.label for row in ablation_differences(results).rows] == list(REMOVALS.values())
    assert mars_panel(results) is not None
    assert all(results.table(name, "qasper").mean("admission_violations") == 0 for name in REMOVALS)


@pytest.mark.parametrize("name", ["staterag", *VARIANTS])
def test_every_variant_cuts_regions_and_asks_the_reader_as_staterag_does(name):
    script = RoleScript(
        verifier=[fail("the maker of the dome"), '{"verdict": "PASS", "justification": ""}'],
        reader='{"records": [1], "answer": "the dome"}',
    )
    changes = {
        "retriever": {"ranker": "fitted", "sentences": 0},
        "tam": {"region_tokens": 64, "overlap_tokens": 0},
        "lifecycle": {"bypass_leaves": 0, "keep_first": 2, "keep_revised": 3, "reader_form": "cited"},
    }
    collection = make_collection()
    record = ask(opened(name, script, **changes), collection)
    assert (record.status, record.answer, record.rejections) == ("completed", "the dome", []), record.error
    assert record.cited
    assert all(item.text == collection.texts[item.source_id][item.start : item.end] for item in record.evidence)
    assert len({item.home for item in record.evidence}) == (3 if record.cycles == 2 else 2)
