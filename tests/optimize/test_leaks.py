"""I11: selection never sees an evaluation query. Each test is a way to cheat, by mistake or on purpose."""

from __future__ import annotations

import builtins
import inspect
import json
import pkgutil
from importlib import import_module
from typing import Any, get_args, get_type_hints

import pytest
from typer.testing import CliRunner

import optimize
from optimize.development import open_development
from optimize.lock import app as lock_app
from programs import run
from programs.errors import InputError
from programs.runner.evaluation import ConfiguredMethod, Evaluation
from programs.runner.evaluation import question_set as questions_of
from programs.selection.compiled import Compiled, read_compiled
from programs.selection.lock import LOCK
from programs.settings import load_settings
from programs.workloads.hashes import SeenHashes
from programs.workloads.manifest import (
    AnyManifest,
    DevManifest,
    LockedManifest,
    Manifest,
    QuestionSet,
    differences,
    read_manifest,
)
from programs.workloads.registry import Workload, open_workload
from tests.support.runs import scripted_runtime
from tests.support.selections import (
    TASK,
    WORKLOAD,
    altered,
    compiled_on,
    develop,
    row,
    write_data,
    write_selection,
)
from tests.workloads.files import write_rows

runner = CliRunner()
DEV = [row("Elm"), row("Oak"), row("Ash"), row("Fir")]
EVALUATION = [row("Yew"), row("Bay"), row("Box")]
SAW = "the selection saw"


@pytest.fixture(autouse=True)
def scripted(monkeypatch):
    """Open scripted models."""
    monkeypatch.setattr(run, "open_models", scripted_runtime)


@pytest.fixture
def data(tmp_path):
    return write_data(tmp_path / "data", DEV, EVALUATION)


def lock(folder, *options):
    result = runner.invoke(lock_app, [str(folder), *options])
    assert result.exit_code == 0, result.output
    return folder


def evaluate(data, place, *options, compiled=None, split="eval", method="vanilla"):
    named = ["--compiled", str(compiled)] if compiled else []
    fixed = ["eval", "--preset", "tiny", "--method", method, "--workload", WORKLOAD, "--data", str(data)]
    return runner.invoke(run.app, [*fixed, "--split", split, "--out", str(place), *named, *map(str, options)])


def refused(result, *said):
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    for part in said:
        assert part in result.stderr
    return True


def selected_on(tmp_path, rows, **changes):
    """Select on rows that stand in a dev file, whatever they are, and lock that."""
    folder = write_data(tmp_path / "cheat", rows, EVALUATION)
    return lock(write_selection(tmp_path / "chosen", compiled_on(develop(folder), **changes)))


def test_an_honest_selection_is_evaluated_and_the_manifest_names_it(data, tmp_path):
    chosen = selected_on(tmp_path, DEV, parameters={"vanilla.k": 1})
    result = evaluate(data, tmp_path / "run", compiled=chosen)
    assert result.exit_code == 0, result.output
    manifest = read_manifest(tmp_path / "run" / "manifest.json")
    assert isinstance(manifest, LockedManifest)
    said = json.loads((chosen / LOCK).read_bytes())
    assert manifest.selection.model_dump() == {"lock": said["digest"], "development": said["development"]}
    assert manifest.methods[0].settings["vanilla"]["k"] == 1


def test_without_a_compiled_program_an_evaluation_needs_no_lock_and_names_none(data, tmp_path):
    assert evaluate(data, tmp_path / "run", compiled="none").exit_code == 0
    assert json.loads((tmp_path / "run" / "manifest.json").read_bytes())["selection"] is None


def test_a_development_run_takes_what_is_not_locked_yet(data, tmp_path):
    chosen = write_selection(tmp_path / "chosen", compiled_on(develop(data)))
    assert evaluate(data, tmp_path / "run", compiled=chosen, split="dev").exit_code == 0


def test_I11_a_compiled_program_without_a_lock_is_not_evaluated(data, tmp_path):
    chosen = write_selection(tmp_path / "chosen", compiled_on(develop(data)))
    assert refused(evaluate(data, tmp_path / "run", compiled=chosen), f"python -m optimize.lock {chosen}")
    assert refused(evaluate(data, tmp_path / "run", compiled=chosen / "vanilla.json"), "python -m optimize.lock")
    assert not (tmp_path / "run").exists()


def test_I11_code_that_goes_around_the_command_line_is_refused_too(data):
    workload = open_workload(WORKLOAD, data, "eval")
    configured = ConfiguredMethod("vanilla", load_settings("tiny"), compiled_on(develop(data)))
    with pytest.raises(InputError, match=r"python -m optimize\.lock"):
        Evaluation(workload, (configured,))


def test_I11_an_evaluation_file_is_no_development_file(data):
    with pytest.raises(InputError, match="evaluation file"):
        develop(data, data / "longbench" / f"{TASK}.eval.jsonl")


def test_I11_there_is_no_way_to_name_another_split(data):
    assert "split" not in inspect.signature(open_development).parameters
    assert {e.query.query_id for e in develop(data).validation} <= {r["_id"] for r in DEV}


def harmless(text):
    """The same letters, written otherwise."""
    return "\u200b " + text.upper().replace(" ", " \n") + " !"


CHEATS = {
    "a copy of the evaluation file": EVALUATION,
    "one of its questions among honest ones": [*DEV, EVALUATION[1]],
    "in another order": EVALUATION[::-1],
    "with other ids": [item | {"_id": f"new-{i}"} for i, item in enumerate(EVALUATION)],
    "in capitals, with other spaces": [
        item | {"input": harmless(item["input"]), "context": harmless(item["context"])} for item in EVALUATION
    ],
    "with other sources": [item | {"context": DEV[0]["context"]} for item in EVALUATION],
    "with other answers": [item | {"answers": ["nobody"]} for item in EVALUATION],
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_I11_evaluation_questions_under_a_development_name_are_found(data, tmp_path, cheat):
    chosen = selected_on(tmp_path, CHEATS[cheat])
    result = evaluate(data, tmp_path / "run", compiled=chosen)
    assert refused(result, SAW, "of these 3 questions", "Bay", "--compiled none")
    assert not (tmp_path / "run").exists()


def test_I11_one_source_is_enough_even_with_another_question(data, tmp_path):
    other = row("Elm", context=EVALUATION[2]["context"].replace("\n", " \r\n "))
    chosen = selected_on(tmp_path, [*DEV[1:], other])
    assert refused(evaluate(data, tmp_path / "run", compiled=chosen), f"{SAW} the sources of 1 of these 3", "(Box)")


def test_I11_a_refusal_names_three_queries_and_counts_the_rest(tmp_path):
    many = [row(name) for name in ("Yew", "Bay", "Box", "Fig", "Haw")]
    folder = write_data(tmp_path / "data", many, many)
    chosen = lock(write_selection(tmp_path / "chosen", compiled_on(develop(folder))))
    assert refused(evaluate(folder, tmp_path / "run", compiled=chosen), "5 of these 5 questions (Yew, Bay, Box, …)")


def test_I11_questions_left_out_by_a_limit_do_not_count(data, tmp_path):
    chosen = selected_on(tmp_path, [*DEV, EVALUATION[2]])
    assert refused(evaluate(data, tmp_path / "run", compiled=chosen), SAW)
    assert evaluate(data, tmp_path / "run", "--limit", 2, compiled=chosen).exit_code == 0


def test_I11_a_file_named_for_the_evaluation_is_checked_like_any_other(data, tmp_path):
    chosen = selected_on(tmp_path, DEV)
    mine = write_rows(tmp_path / "mine.jsonl", row("Yew"), DEV[0] | {"_id": "Oh"})
    assert refused(evaluate(data, tmp_path / "run", "--questions", mine, compiled=chosen), SAW, "(Oh)")


def test_I11_another_method_of_the_selection_saw_it_for_all(data, tmp_path):
    honest = compiled_on(develop(data))
    cheat = write_data(tmp_path / "cheat", EVALUATION, EVALUATION)
    other = altered(compiled_on(develop(cheat), "react"), development=honest.choice.development)
    chosen = lock(write_selection(tmp_path / "chosen", honest, other))
    assert refused(evaluate(data, tmp_path / "run", compiled=chosen, method="vanilla"), SAW)


def test_I11_a_compiled_file_that_forgot_what_it_saw_is_noticed_and_can_not_be_locked(data, tmp_path):
    chosen = selected_on(tmp_path, EVALUATION)
    cheated = develop(tmp_path / "cheat")
    for seen in (
        SeenHashes(),
        SeenHashes(questions=cheated.seen.questions[1:], sources=cheated.seen.sources),
        drop(cheated),
    ):
        write_selection(chosen, altered(compiled_on(cheated), seen=seen))
        assert refused(evaluate(data, tmp_path / "run", compiled=chosen), "vanilla.json", "changed since it was locked")
        assert refused(runner.invoke(lock_app, [str(chosen)]), "vanilla.json", "`seen`")


def drop(development):
    return SeenHashes(questions=development.seen.questions)


def test_I11_a_lock_edited_to_have_seen_nothing_is_refused(data, tmp_path):
    chosen = selected_on(tmp_path, EVALUATION)
    said = json.loads((chosen / LOCK).read_bytes())
    (chosen / LOCK).write_text(json.dumps(said | {"seen": {"questions": "", "sources": ""}}))
    assert refused(evaluate(data, tmp_path / "run", compiled=chosen), "changed by hand")


def test_I11_the_lock_of_another_folder_does_not_fit(data, tmp_path):
    honest = selected_on(tmp_path, DEV)
    cheat = write_data(tmp_path / "more", EVALUATION, EVALUATION)
    other = write_selection(tmp_path / "other", compiled_on(develop(cheat)))
    (other / LOCK).write_bytes((honest / LOCK).read_bytes())
    assert refused(evaluate(data, tmp_path / "run", compiled=other), "vanilla.json", "changed since it was locked")


def test_I11_a_program_put_beside_a_lock_is_not_in_it(data, tmp_path):
    honest = selected_on(tmp_path, DEV)
    cheat = write_data(tmp_path / "more", EVALUATION, EVALUATION)
    write_selection(honest, compiled_on(develop(cheat), "react"))
    assert refused(evaluate(data, tmp_path / "run", compiled=honest, method="react"), "react", "not in the lock")
    assert evaluate(data, tmp_path / "run", compiled=honest).exit_code == 0


def test_I11_a_variant_is_evaluated_with_what_is_locked_for_its_base_and_with_nothing_else(data, tmp_path):
    variant = "staterag-without-mars"
    honest = selected_on(tmp_path, DEV, method="staterag", parameters={"lifecycle.cycles": 1})
    assert evaluate(data, tmp_path / "run", compiled=honest, method=variant).exit_code == 0
    manifest = read_manifest(tmp_path / "run" / "manifest.json")
    locked = read_compiled(honest, "staterag")
    assert manifest.selection.lock == json.loads((honest / LOCK).read_bytes())["digest"]
    assert [(entry.name, entry.compiled) for entry in manifest.methods] == [(variant, locked.digest)]
    cheat = write_data(tmp_path / "more", EVALUATION, EVALUATION)
    write_selection(tmp_path / "bare", compiled_on(develop(cheat), "staterag"))
    assert refused(evaluate(data, tmp_path / "b", compiled=tmp_path / "bare", method=variant), "optimize.lock")
    cheated = lock(tmp_path / "bare")
    assert refused(evaluate(data, tmp_path / "c", compiled=cheated, method=variant), SAW)


def test_I11_a_folder_or_a_file_behind_a_link_is_what_it_points_to(data, tmp_path):
    honest = selected_on(tmp_path, DEV)
    (tmp_path / "link").symlink_to(honest, target_is_directory=True)
    assert evaluate(data, tmp_path / "a", compiled=tmp_path / "link").exit_code == 0
    (tmp_path / "vanilla.json").symlink_to(honest / "vanilla.json")
    assert evaluate(data, tmp_path / "b", compiled=tmp_path / "vanilla.json").exit_code == 0
    cheat = write_data(tmp_path / "more", EVALUATION, EVALUATION)
    write_selection(tmp_path / "other", compiled_on(develop(cheat)))
    (honest / "vanilla.json").unlink()
    (honest / "vanilla.json").symlink_to(tmp_path / "other" / "vanilla.json")
    assert refused(evaluate(data, tmp_path / "c", compiled=honest), "vanilla.json", "changed since it was locked")


def test_I11_one_file_of_a_locked_folder_finds_its_lock(data, tmp_path):
    assert evaluate(data, tmp_path / "a", compiled=selected_on(tmp_path, DEV) / "vanilla.json").exit_code == 0
    cheated = selected_on(tmp_path, EVALUATION) / "vanilla.json"
    assert refused(evaluate(data, tmp_path / "b", compiled=cheated), SAW)


def test_I11_a_run_is_not_taken_up_with_another_selection(data, tmp_path):
    first = selected_on(tmp_path, DEV)
    assert evaluate(data, tmp_path / "run", compiled=first).exit_code == 0
    development = develop(write_data(tmp_path / "fewer", DEV[:3], EVALUATION))
    second = lock(write_selection(tmp_path / "second", compiled_on(development)))
    assert refused(evaluate(data, tmp_path / "run", "--resume", compiled=second), "selection.lock")
    assert refused(evaluate(data, tmp_path / "run", "--resume", compiled="none"), "selection")
    assert evaluate(data, tmp_path / "run", "--resume", compiled=first).exit_code == 0


def test_settings_given_by_hand_are_no_selection_and_the_manifest_shows_them(data, tmp_path):
    """What `--set` says was chosen by a person: it can't be known what they saw, but it can be read what they set."""
    assert evaluate(data, tmp_path / "run", "--set", "vanilla.k=2", compiled="none").exit_code == 0
    manifest = read_manifest(tmp_path / "run" / "manifest.json")
    assert manifest.methods[0].settings["vanilla"]["k"] == 2
    assert (manifest.methods[0].compiled, manifest.selection) == (None, None)


ASKED = EVALUATION[1]["input"]
QUOTES = {
    "a demonstration": {"instructions": "Answer.", "demos": [{"question": harmless(ASKED), "answer": "Ada Bay"}]},
    "a demonstration, deep inside": {"instructions": "Answer.", "demos": [{"evidence": [{"text": f"Q: {ASKED}"}]}]},
    "an instruction": {"instructions": f"Answer. If asked “{harmless(ASKED)}”, say Ada Bay."},
    "a source in a demonstration": {"instructions": "Answer.", "demos": [{"evidence": EVALUATION[1]["context"]}]},
}


@pytest.mark.parametrize("where", QUOTES)
def test_I11_a_prompt_that_quotes_an_evaluation_query_is_refused(data, tmp_path, where):
    chosen = selected_on(tmp_path, DEV, prompts={"reader.answer": QUOTES[where]})
    result = evaluate(data, tmp_path / "run", compiled=chosen)
    assert refused(result, "reader.answer", "quotes", "a source" if "source" in where else "Bay")


def test_I11_a_short_question_counts_as_quoted_on_a_line_of_its_own_alone(tmp_path):
    folder = write_data(tmp_path / "data", DEV, [row("Yew", input="Who is it?")])
    for name, instructions, quoted in (
        ("a", "Say who is it that the evidence names.", False),
        ("b", "For example:\nwho IS it\nAda", True),
    ):
        made = compiled_on(develop(folder), prompts={"reader.answer": {"instructions": instructions}})
        chosen = lock(write_selection(tmp_path / name, made))
        result = evaluate(folder, tmp_path / f"run-{name}", compiled=chosen)
        assert refused(result, "quotes") if quoted else result.exit_code == 0


def test_development_questions_may_be_demonstrations(data, tmp_path):
    demos = [{"question": DEV[0]["input"], "answer": "Ada Elm"}]
    chosen = selected_on(tmp_path, DEV, prompts={"reader.answer": {"instructions": "Answer.", "demos": demos}})
    assert evaluate(data, tmp_path / "run", compiled=chosen).exit_code == 0


def test_a_manifest_from_before_selections_reads_and_keeps_its_digest(data, tmp_path):
    evaluate(data, tmp_path / "run", compiled="none")
    path = tmp_path / "run" / "manifest.json"
    now = read_manifest(path)
    tree = json.loads(path.read_bytes())
    del tree["selection"]
    path.write_text(json.dumps(tree))
    before = read_manifest(path)
    assert (before.selection, before.digest) == (None, now.digest)
    assert differences(before, now) == []
    assert evaluate(data, tmp_path / "run", "--resume", compiled="none").exit_code == 0


# By type: what `optimize` can be given at all.

OF_EVALUATIONS = (LockedManifest, QuestionSet, Workload, Evaluation)
FORBIDDEN = (*OF_EVALUATIONS, Manifest, AnyManifest)


class Names(dict[str, Any]):
    """A module's names, and those that it imports for a type checker alone."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        return next((kind for kind in (*OF_EVALUATIONS, Manifest) if kind.__name__ == name), type(name, (), {}))


def parts_of(annotation: Any) -> list[Any]:
    """A type and every type inside it."""
    return [annotation, *(part for argument in get_args(annotation) for part in parts_of(argument))]


def admits(annotation: Any) -> list[Any]:
    """The types of an evaluation that a value of this annotation may have, or may hold."""
    parts = [part for part in parts_of(annotation) if part is not object]
    return [kind for kind in OF_EVALUATIONS if any(base in parts for base in kind.__mro__)]


def public_callables():
    """Every public function, method and constructor of every module of `optimize`."""
    for found in pkgutil.walk_packages(optimize.__path__, "optimize."):
        module = import_module(found.name)
        own = {name: value for name, value in vars(module).items() if getattr(value, "__module__", "") == found.name}
        for name, value in own.items():
            inside = vars(value).items() if inspect.isclass(value) else [("", value)]
            for part, function in inside:
                private = name.startswith("_") or (part.startswith("_") and part != "__init__")
                if inspect.isfunction(function) and not private:
                    yield f"{found.name}.{name}.{part}".rstrip("."), function, Names(vars(module))


def test_I11_nothing_public_in_optimize_takes_an_evaluation():
    walked, accepting = set(), {}
    for name, function, names in public_callables():
        walked.add(name)
        hints = get_type_hints(function, {}, names)
        hints.pop("return", None)
        found = {parameter: kinds for parameter, hint in hints.items() if (kinds := admits(hint))}
        if found:
            accepting[name] = found
    assert accepting == {}
    assert {"optimize.development.open_development", "optimize.development.Development.__init__"} <= walked


@pytest.mark.parametrize("annotation", FORBIDDEN)
def test_the_check_by_type_would_notice(annotation):
    assert admits(annotation)
    assert admits(list[annotation] | None)
    assert not admits(DevManifest)
    assert not admits(Compiled)


def test_I11_a_locked_manifest_opens_no_development(data, tmp_path):
    evaluate(data, tmp_path / "run", compiled="none")
    manifest = read_manifest(tmp_path / "run" / "manifest.json")
    for given in (manifest, [manifest], manifest.questions, questions_of(open_workload(WORKLOAD, data, "eval"))):
        with pytest.raises((InputError, TypeError)):
            open_development(given, data, None, None, 0.5, 7)


def test_I11_a_workload_that_says_it_is_an_evaluation_opens_no_development(data, monkeypatch):
    from optimize import development

    def opened(name, folder, split, *rest):
        return open_workload(name, folder, "eval", *rest)

    monkeypatch.setattr(development, "open_workload", opened)
    with pytest.raises(InputError, match="eval"):
        develop(data)
