"""Runs: manifests that can't be mixed, order, workers, and what is written when."""

from __future__ import annotations

import errno
import json
import threading

import pytest

from programs.errors import InputError
from programs.models.cache.journal import Journal
from programs.runner.estimate import estimate, spread
from programs.runner.evaluate import evaluate
from programs.runner.evaluation import Evaluation, hashes
from programs.runner.execute import Lanes
from programs.runner.folder import OpenRun, RunFolder, Unchecked
from programs.runner.scoring import score_tables
from programs.selection.compiled import Compiled
from programs.selection.configured import ConfiguredMethod
from programs.workloads.manifest import DevManifest, LockedManifest, differences, read_manifest
from tests.support.runs import ASKS_MODELS, make_evaluation, make_workload, opinions, records_of, scripted_runtime
from tests.support.worlds import small_settings


def test_a_run_writes_its_manifest_and_references_before_the_first_query_and_its_summary_after_the_last(tmp_path):
    there = []

    def watch(method, done, total, record):
        there.append({path.name for path in tmp_path.iterdir() if path.is_file() and not path.name.startswith(".")})

    evaluation = make_evaluation("vanilla", queries=3)
    evaluate(evaluation, evaluation.manifest(), scripted_runtime(), tmp_path, listener=watch)
    assert {"manifest.json", "references.jsonl"} <= there[0]
    assert all("summary.json" not in names for names in there)
    assert (tmp_path / "summary.json").exists()


def test_records_follow_the_order_of_the_workload_method_by_method(tmp_path):
    evaluation = make_evaluation("vanilla-rerank,staterag,vanilla", queries=4)
    evaluate(evaluation, evaluation.manifest(), scripted_runtime(), tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    expected = [(name, position) for name in ("vanilla-rerank", "staterag", "vanilla") for position in range(4)]
    assert [(line["method"], line["position"]) for line in lines] == expected


def test_I5_the_same_manifest_gives_the_same_records(tmp_path):
    evaluation = make_evaluation("staterag,vanilla-rerank", queries=12)
    manifest = evaluation.manifest()
    for name in ("a", "b"):
        evaluate(evaluation, manifest, scripted_runtime(), tmp_path / name)
    assert records_of(tmp_path / "a") == records_of(tmp_path / "b")


def test_a_folder_that_holds_a_run_is_not_overwritten_without_resume(tmp_path):
    evaluation = make_evaluation("vanilla", queries=2)
    evaluate(evaluation, evaluation.manifest(), scripted_runtime(), tmp_path)
    before = (tmp_path / "records.jsonl").read_bytes()
    with pytest.raises(InputError, match="--resume"):
        evaluate(evaluation, evaluation.manifest(), scripted_runtime(), tmp_path)
    assert (tmp_path / "records.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: make_evaluation("vanilla", queries=3), "questions.queries"),
        (lambda: make_evaluation("vanilla-rerank", queries=2), "methods"),
        (lambda: make_evaluation("vanilla", small_settings(lifecycle={"reader_budget": 99}), queries=2), "settings"),
        (lambda: make_evaluation("vanilla", queries=2, collections=1), "questions"),
    ],
    ids=["more questions", "another method", "another setting", "other sources"],
)
def test_a_run_refuses_the_records_of_another_manifest_and_says_what_differs(tmp_path, change, said):
    evaluation = make_evaluation("vanilla", queries=2)
    evaluate(evaluation, evaluation.manifest(), scripted_runtime(), tmp_path)
    other = change()
    with pytest.raises(InputError, match="another manifest") as caught:
        evaluate(other, other.manifest(), scripted_runtime(), tmp_path, resume=True)
    assert said in str(caught.value)


def test_records_that_were_carried_over_from_another_run_are_refused(tmp_path):
    evaluation = make_evaluation("vanilla", queries=2)
    for name, settings in (("a", None), ("b", small_settings())):
        chosen = make_evaluation("vanilla", settings, queries=2)
        evaluate(chosen, chosen.manifest(), scripted_runtime(), tmp_path / name)
    (tmp_path / "a/records.jsonl").write_bytes((tmp_path / "b/records.jsonl").read_bytes())
    with pytest.raises(InputError, match="mixed"):
        list(RunFolder(tmp_path / "a").records())
    with pytest.raises(InputError, match="mixed"):
        evaluate(evaluation, evaluation.manifest(), scripted_runtime(), tmp_path / "a", resume=True)


def test_records_that_lack_what_later_versions_added_are_read_and_those_of_a_later_one_say_so(tmp_path):
    run = make_evaluation("vanilla", queries=2)
    evaluate(run, run.manifest(), scripted_runtime(), tmp_path)
    path = tmp_path / "records.jsonl"
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    for added in ("refusals", "considered", "parse_failures"):
        first.pop(added)
    first.pop("check")
    path.write_text(json.dumps(first) + "\n")
    (tmp_path / "summary.json").write_text("{}")
    with pytest.warns(Unchecked, match="1 records of an earlier version can't be checked"):
        [record] = RunFolder(tmp_path).records()
    assert (record.query_id, record.refusals) == (first["query_id"], [])
    path.write_text(json.dumps(second | {"version": 2, "mood": "glad"}) + "\n")
    with pytest.raises(InputError, match=r"line 1: a record of version 2; this StateRAG reads version 1"):
        list(RunFolder(tmp_path).records())
    path.write_text(json.dumps(second | {"cycles": "many"}) + "\n")
    with pytest.raises(InputError, match=r"line 1: not a QueryRecord as StateRAG writes it \(cycles: "):
        list(RunFolder(tmp_path).records())


def test_one_process_at_a_time_writes_a_run(tmp_path):
    evaluation = make_evaluation("vanilla", queries=2)
    manifest = evaluation.manifest()
    with (
        OpenRun.open(tmp_path, manifest, evaluation.references, resume=False),
        pytest.raises(InputError, match="another process"),
    ):
        OpenRun.open(tmp_path, manifest, evaluation.references, resume=True)


def test_a_finished_run_taken_up_again_asks_nobody_anything(tmp_path):
    evaluation = make_evaluation("vanilla,staterag", queries=3)
    manifest = evaluation.manifest()
    first = evaluate(evaluation, manifest, scripted_runtime(), tmp_path)
    runtime = scripted_runtime()
    again = evaluate(evaluation, manifest, runtime, tmp_path, resume=True)
    assert runtime.reader.engine.requests == []
    assert again == first


def test_a_dev_manifest_and_a_locked_one_are_different_types_and_say_so_on_disk(tmp_path):
    evaluation = make_evaluation("vanilla", queries=2)
    dev = evaluation.manifest()
    locked = LockedManifest.model_validate({**dev.model_dump(), "kind": "locked"})
    assert isinstance(dev, DevManifest)
    assert not isinstance(locked, DevManifest)
    (tmp_path / "manifest.json").write_text(locked.model_dump_json())
    assert isinstance(read_manifest(tmp_path / "manifest.json"), LockedManifest)
    with pytest.raises(InputError, match="manifest"):
        OpenRun.open(tmp_path, dev, evaluation.references, resume=True)


def test_a_manifest_names_every_question_source_setting_model_and_package(tmp_path):
    evaluation = make_evaluation("vanilla,staterag", queries=7, collections=3)
    manifest = evaluation.manifest()
    assert [entry.query_id for entry in manifest.questions.queries] == [f"q{i}" for i in range(7)]
    assert len(manifest.questions.collections) == 3
    assert {entry.part for entry in manifest.models} == {"reader", "auxiliary", "encoder", "cross_encoder"}
    assert {"staterag", "dspy", "torch", "igraph"} <= set(manifest.packages)
    assert [entry.settings["tam"]["region_tokens"] for entry in manifest.methods] == [16, 16]
    assert differences(manifest, manifest) == []


def test_a_questions_digest_tells_whether_two_runs_can_be_compared_whatever_their_methods():
    one, other = make_evaluation("vanilla", queries=3), make_evaluation("staterag", queries=3)
    assert one.manifest().questions.digest == other.manifest().questions.digest
    assert one.manifest().questions.digest != make_evaluation("vanilla", queries=4).manifest().questions.digest


def test_files_of_one_name_in_two_folders_are_both_hashed(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "page.txt").write_text(folder)
    found = hashes([tmp_path / "a/page.txt", tmp_path / "b/page.txt"])
    assert list(found) == ["a/page.txt", "b/page.txt"]
    assert len(set(found.values())) == 2


def test_without_the_reader_evidence_is_scored_and_answers_are_not(tmp_path):
    settings = small_settings(**ASKS_MODELS, lifecycle={"answer": False})
    evaluation = make_evaluation("vanilla,staterag", settings, queries=4)
    runtime = scripted_runtime(settings)
    summary = evaluate(evaluation, evaluation.manifest(), runtime, tmp_path)
    for entry in summary["methods"].values():
        assert "f1" not in entry["metrics"]
        assert entry["metrics"]["reader_calls"]["mean"] == 0
        assert entry["metrics"]["evidence_records"]["mean"] > 0


def test_eight_workers_give_the_records_of_one_and_really_run_at_once(tmp_path):
    under_way, most = [0], [0]
    lock = threading.Lock()

    def slow(request):
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        threading.Event().wait(0.02)
        with lock:
            under_way[0] -= 1
        return opinions(request)

    evaluation = make_evaluation("vanilla", queries=40, collections=40)
    manifest = evaluation.manifest()
    evaluate(evaluation, manifest, scripted_runtime(), tmp_path / "one")
    evaluate(evaluation, manifest, SlowRuntime(slow), tmp_path / "eight", workers=8)
    assert records_of(tmp_path / "eight") == records_of(tmp_path / "one")
    assert most[0] >= 4


def SlowRuntime(script):
    """A scripted engine that does not hold its lock while it answers."""
    runtime = scripted_runtime()

    class Unlocked(type(runtime.reader.engine)):
        def _answer(self, request):
            return script(request)

    runtime.reader.metered.engine.__class__ = Unlocked
    return runtime


def test_a_method_with_memory_between_queries_runs_in_order_whatever_the_workers(tmp_path):
    evaluation = make_evaluation("staterag", queries=12)
    manifest = evaluation.manifest()
    evaluate(evaluation, manifest, scripted_runtime(), tmp_path / "one")
    evaluate(evaluation, manifest, scripted_runtime(), tmp_path / "eight", workers=8)
    lines = (tmp_path / "eight/records.jsonl").read_text().splitlines()
    assert [json.loads(line)["position"] for line in lines] == list(range(12))
    assert records_of(tmp_path / "eight") == records_of(tmp_path / "one")


@pytest.mark.parametrize("memory", [{"enabled": False}, {"keep_global": False}])
def test_staterag_without_memory_between_queries_may_run_at_once_with_the_same_records(tmp_path, memory):
    settings = small_settings(**{**ASKS_MODELS, "memory": memory})
    evaluation = make_evaluation("staterag", settings, queries=18, collections=3)
    manifest = evaluation.manifest()
    evaluate(evaluation, manifest, scripted_runtime(settings), tmp_path / "one")
    evaluate(evaluation, manifest, scripted_runtime(settings), tmp_path / "six", workers=6)
    assert records_of(tmp_path / "six") == records_of(tmp_path / "one")
    charged = [record["tokens"]["index"] > 0 for record in records_of(tmp_path / "six")]
    assert charged == [True] * 3 + [False] * 15  # the first query on each collection pays for its graph


def test_queries_that_share_a_collection_wait_for_the_first_of_them():
    queries = [example.query for example in make_workload(queries=6, collections=2).examples]
    lanes = Lanes(queries, frozenset(), queries)
    assert [lanes.take(), lanes.take(), lanes.take()] == [queries[0], queries[1], None]
    lanes.finished(queries[1])
    assert [lanes.take(), lanes.take(), lanes.take()] == [queries[3], queries[5], None]
    lanes.finished(queries[0])
    assert [lanes.take(), lanes.take(), lanes.take()] == [queries[2], queries[4], None]


def test_a_compiled_program_brings_its_parameters_and_its_prompts(tmp_path):
    settings = small_settings(vanilla={"k": 1})
    instruction = "Answer in one word, from the evidence."
    compiled = Compiled(
        method="vanilla",
        preset="tiny",
        parameters={"vanilla.k": 1},
        prompts={"reader.answer": {"instructions": instruction}},
    )
    evaluation = Evaluation(make_workload(queries=2), (ConfiguredMethod("vanilla", settings, compiled),))
    runtime = scripted_runtime(settings)
    evaluate(evaluation, evaluation.manifest(), runtime, tmp_path)
    assert all(len(record["evidence"]) == 1 for record in records_of(tmp_path))
    assert runtime.reader.engine.requests[0].messages[0].content.startswith(instruction)
    assert evaluation.manifest().methods[0].compiled == compiled.digest


def test_methods_that_would_read_different_amounts_of_evidence_are_not_compared():
    methods = [
        ConfiguredMethod(name, small_settings(lifecycle={"reader_budget": budget}))
        for name, budget in (("vanilla", 64), ("dosrag", 32))
    ]
    with pytest.raises(InputError, match=r"vanilla 64, dosrag 32 .*--set lifecycle.reader_budget=32"):
        Evaluation(make_workload(queries=2), tuple(methods))


def test_an_estimate_asks_no_model_and_bounds_what_the_run_then_spends(tmp_path):
    settings = small_settings(**{**ASKS_MODELS, "memory": {"enabled": False}})
    evaluation = make_evaluation("staterag,vanilla", settings, queries=12, collections=12)
    runtime = scripted_runtime(settings)
    estimates = estimate(evaluation, runtime, sample=12)
    assert runtime.reader.engine.requests == []
    evaluate(evaluation, evaluation.manifest(), runtime, tmp_path)
    tables = {table.method: table for table in score_tables(RunFolder(tmp_path))}
    for found in estimates:
        table = tables[found.method]
        complete = table.values["incomplete"] == 0
        calls = table.values["calls"][complete].mean() * 12
        assert found.calls.least <= calls <= found.calls.most
        assert table.values["ret"][complete].mean() * 12 <= found.ret.most


def test_a_sample_is_spread_over_the_workload():
    queries = [example.query for example in make_workload(queries=10).examples]
    assert [query.position for query in spread(queries, 5)] == [0, 2, 4, 6, 8]
    assert len(spread(queries, 99)) == 10


def test_I8_a_disk_that_runs_full_under_the_journal_ends_the_run_and_not_the_query(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    evaluation = make_evaluation("staterag", queries=3)
    with monkeypatch.context() as disk:
        disk.setattr(Journal, "add", full)
        with pytest.raises((OSError, InputError)):
            evaluate(evaluation, evaluation.manifest(), scripted_runtime(), tmp_path)
    assert records_of(tmp_path) == []
    evaluate(evaluation, evaluation.manifest(), scripted_runtime(), tmp_path, resume=True)
    assert [record["error"] for record in records_of(tmp_path)] == [None] * 3
