"""Each optimiser finds the prompt that a scripted model rewards, within its budget, and nothing else of the program."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from optimize.prompts.optimizers import OPTIMIZERS
from optimize.prompts.search import Search, choose_prompts
from programs.errors import InputError, StateRAGError
from programs.models.language_model import LanguageModel
from programs.selection.configured import ConfiguredMethod
from tests.optimize.prompt_world import (
    MAGIC,
    PROPOSES,
    READS,
    REWRITES,
    answers_with_the_word,
    asked_of,
    instruction_of,
    make_development,
    make_runtime,
    position_in,
    rewritten,
    right,
    search_with,
    settings_for,
)
from tests.support.dying import refuse
from tests.support.runs import opinions
from tests.support.scripted import HashedEncoder, ScriptedEngine

PLANS = "You are the Planner"


class Asked:
    """A script that keeps every request."""

    def __init__(self, script):
        self.script = script
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        return self.script(request)

    def of(self, opening):
        return [request for request in self.requests if instruction_of(request).startswith(opening)]


def answers_when_shown(request):
    """Read even numbers well, and odd ones only after an example."""
    if instruction_of(request).startswith(READS):
        position = position_in(asked_of(request))
        return right(position) if position % 2 == 0 or len(request.messages) > 2 else "no idea"
    return opinions(request) if not instruction_of(request).startswith(PROPOSES) else READS


def plans_with_the_word(request):
    """Plan readably only under an instruction with the word. The proposer offers it if it hears why plans failed."""
    opening = instruction_of(request)
    if opening.startswith(REWRITES):
        heard = "your proposal was rejected (malformed)" in asked_of(request)
        return rewritten(f"{PLANS}, and carry a {MAGIC}." if heard else "Be better.")
    if opening.startswith(PLANS):
        plan = {"objective": "find the pier", "targets": ["harbour ferry pier"]}
        return json.dumps(plan) if MAGIC in opening else "I plan to plan."
    if opening.startswith("You are the Verifier"):
        return json.dumps({"verdict": "PASS", "justification": "all there"})
    return opinions(request)


@pytest.mark.parametrize("optimizer", ["gepa", "mipro"])
def test_an_instruction_that_the_model_rewards_is_found(optimizer, tmp_path):
    found = search_with(answers_with_the_word, tmp_path, optimizer=optimizer)
    assert (found.start.mean("em"), found.chosen.mean("em")) == (0.0, 1.0)
    assert found.changed == ("reader.answer",)
    assert MAGIC in found.prompts["reader.answer"].instructions
    assert found.gain.difference == 1.0


@pytest.mark.parametrize("optimizer", ["bootstrap", "mipro"])
def test_demonstrations_that_the_model_rewards_are_taken_from_training_runs_that_went_well(optimizer, tmp_path):
    found = search_with(answers_when_shown, tmp_path, optimizer=optimizer)
    assert found.start.mean("em") < found.chosen.mean("em") == 1.0
    demos = found.prompts["reader.answer"].demos
    assert demos
    train = {example.query.question: example.reference.answers[0] for example in make_development().train}
    for demo in demos:
        assert set(demo) == {"question", "evidence", "answer"}
        assert train[demo["question"]] == demo["answer"]
    assert json.loads(json.dumps(demos)) == list(demos)


def test_demonstrations_reach_the_model_as_turns_before_the_question(tmp_path):
    script = Asked(answers_when_shown)
    found = search_with(script, tmp_path, optimizer="bootstrap")
    demo = found.prompts["reader.answer"].demos[0]
    shown = next(request for request in script.of(READS) if len(request.messages) > 2)
    assert [message.role for message in shown.messages[:3]] == ["system", "user", "assistant"]
    assert demo["question"] in shown.messages[1].content
    assert demo["evidence"] in shown.messages[1].content
    assert shown.messages[2].content == demo["answer"]


def test_gepa_tells_the_proposer_why_a_proposal_was_rejected_though_its_completion_could_not_be_read(tmp_path):
    script = Asked(plans_with_the_word)
    found = search_with(script, tmp_path, "staterag", quality="source_recall", budget=60)
    prompts = [asked_of(request) for request in script.of(REWRITES)]
    assert any("your proposal was rejected (malformed)" in prompt and "I plan to plan." in prompt for prompt in prompts)
    assert found.start.mean("source_recall") == 0.0 < found.chosen.mean("source_recall")
    assert MAGIC in found.prompts["planner.propose"].instructions


def test_only_predictors_that_the_settings_ask_are_optimised(tmp_path):
    found = search_with(plans_with_the_word, tmp_path / "all", "staterag", quality="source_recall", budget=30)
    assert found.optimised == ("planner.propose", "abstraction.describe_group")  # the start's plans end every query
    cheap = settings_for(
        tam={"abstraction": "lead"},
        navigation={"scorer": {"embedding": 1.0}},
        retriever={"ranker": "cross-encoder"},
        lifecycle={"answer": False},
    )
    found = search_with(opinions, tmp_path / "cheap", "staterag", settings=cheap, quality="source_recall", budget=30)
    assert found.optimised == ("planner.propose", "verifier.judge")


def test_a_method_that_asks_no_model_has_no_prompt_to_choose(tmp_path):
    silent = settings_for(lifecycle={"answer": False})
    with pytest.raises(InputError, match="asked no model"):
        search_with(opinions, tmp_path, settings=silent, quality="source_recall")


@pytest.mark.parametrize("optimizer", list(OPTIMIZERS))
@pytest.mark.parametrize("budget", [11, 12, 17, 23, 40])
def test_the_budget_is_never_exceeded_and_the_best_so_far_is_kept(optimizer, budget, tmp_path):
    script = Asked(answers_with_the_word)
    told = []
    found = search_with(
        script,
        tmp_path,
        optimizer=optimizer,
        budget=budget,
        listener=lambda step, done, total: told.append((done, total)),
    )
    assert len(script.of(READS)) <= found.runs <= budget
    assert len(found.tried) >= 1
    assert found.chosen.mean("em") == max(measured.mean("em") for _, measured in found.tried)
    assert told[-1] == (found.runs, budget)


def test_a_budget_that_ends_in_the_middle_of_a_candidate_leaves_it_out(tmp_path):
    found = search_with(answers_with_the_word, tmp_path, optimizer="mipro", budget=13)
    assert found.runs == 13
    assert found.candidates == 2
    assert found.changed == ()


def test_a_budget_too_small_for_one_candidate_is_refused_before_a_model_is_asked(tmp_path):
    script = Asked(answers_with_the_word)
    with pytest.raises(InputError, match="at least 11"):
        search_with(script, tmp_path, budget=10)
    assert script.requests == []


@pytest.mark.parametrize("optimizer", list(OPTIMIZERS))
def test_no_candidate_is_run_on_a_question_twice(optimizer, tmp_path):
    script = Asked(lambda request: answers_when_shown(request))
    found = search_with(script, tmp_path, optimizer=optimizer)
    requests = [tuple(request.messages) for request in script.of(READS)]
    assert len(requests) == len(set(requests))
    assert found.runs >= len(requests)


@pytest.mark.parametrize("optimizer", list(OPTIMIZERS))
def test_the_same_seed_gives_the_same_choice_and_asks_the_same_things(optimizer, tmp_path):
    scripts = [Asked(answers_when_shown), Asked(answers_when_shown)]
    founds = [
        search_with(script, tmp_path / str(number), optimizer=optimizer, seed=7)
        for number, script in enumerate(scripts)
    ]
    assert founds[0].prompts == founds[1].prompts
    assert [prompts for prompts, _ in founds[0].tried] == [prompts for prompts, _ in founds[1].tried]
    assert scripts[0].requests == scripts[1].requests


@pytest.mark.parametrize("optimizer", list(OPTIMIZERS))
def test_several_workers_choose_as_one_does(optimizer, tmp_path):
    one = search_with(answers_with_the_word, tmp_path / "one", optimizer=optimizer, budget=30)
    many = search_with(answers_with_the_word, tmp_path / "many", optimizer=optimizer, budget=30, workers=3)
    assert many.prompts == one.prompts
    assert many.chosen.mean("em") == one.chosen.mean("em")


@pytest.mark.parametrize("quoted", [right(2), "Which harbour has pier number 8?", "question-3"])
@pytest.mark.parametrize("optimizer", ["gepa", "mipro"])
def test_an_instruction_that_quotes_development_data_is_refused_however_well_it_does(optimizer, quoted, tmp_path):
    def cheats(request):
        opening = instruction_of(request)
        if opening.startswith((REWRITES, PROPOSES)):
            text = f"{READS}. {MAGIC}. Remember {quoted} when you answer."
            return rewritten(text) if opening.startswith(REWRITES) else text
        return answers_with_the_word(request)

    script = Asked(cheats)
    found = search_with(script, tmp_path, optimizer=optimizer, budget=30)
    assert found.changed == ()
    assert found.refused
    assert not [request for request in script.of(READS) if MAGIC in instruction_of(request)]


def test_reader_and_auxiliary_may_differ_and_no_model_is_set_on_a_predictor(tmp_path):
    reader, auxiliary = Asked(plans_with_the_word), Asked(plans_with_the_word)
    runtime = make_runtime(auxiliary)
    runtime = replace(runtime, reader=LanguageModel(ScriptedEngine(reader, model="large", context=16384)))
    search = Search("mipro", "source_recall", 30, 0)
    start = ConfiguredMethod("staterag", runtime.settings)
    choose_prompts(start, make_development(), runtime, tmp_path / "kept.sqlite", search)
    assert not [request for request in reader.requests if not instruction_of(request).startswith(READS)]
    assert not auxiliary.of(READS)
    assert all(request.temperature == 0 for request in (*reader.requests, *auxiliary.requests))


def test_a_proposer_of_its_own_is_asked_instead_of_the_auxiliary_model(tmp_path):
    script, other = Asked(answers_with_the_word), Asked(answers_with_the_word)
    found = search_with(script, tmp_path, proposer=ScriptedEngine(other, model="strong"))
    assert MAGIC in found.prompts["reader.answer"].instructions
    assert other.of(REWRITES)
    assert not script.of(REWRITES)
    assert {call.role for call in found.calls if call.model == "strong"} == {"proposer"}


@pytest.mark.parametrize("optimizer", list(OPTIMIZERS))
def test_a_run_that_breaks_ends_the_search_with_its_own_error(optimizer, tmp_path):
    class Breaks(HashedEncoder):
        def encode_queries(self, texts):
            if any("pier number 2?" in text for text in texts):
                raise LookupError("a fault in the code")
            return super().encode_queries(texts)

    runtime = replace(make_runtime(answers_with_the_word), encoder=Breaks())
    start = ConfiguredMethod("vanilla", runtime.settings)
    search = Search(optimizer, "em", 30, 0)
    with pytest.raises(LookupError, match="a fault in the code"):
        choose_prompts(start, make_development(3, 4), runtime, tmp_path / "kept.sqlite", search)


def test_a_model_that_can_not_be_reached_ends_the_search_and_is_no_bad_prompt(tmp_path):
    asked = []

    def goes_away(request):
        asked.append(request)
        if len(asked) > 8:
            refuse(request)
        return answers_with_the_word(request)

    with pytest.raises(StateRAGError, match="connection refused"):
        search_with(goes_away, tmp_path)


@pytest.mark.parametrize("optimizer", ["gepa", "mipro"])
def test_a_proposer_that_can_not_be_reached_ends_the_search(optimizer, tmp_path):
    with pytest.raises(StateRAGError, match="the proposer could not be used"):
        search_with(answers_with_the_word, tmp_path, optimizer=optimizer, proposer=ScriptedEngine(refuse))


@pytest.mark.parametrize("optimizer", list(OPTIMIZERS))
def test_nothing_of_an_optimisers_own_noise_reaches_the_terminal(optimizer, tmp_path, capfd):
    search_with(answers_when_shown, tmp_path, optimizer=optimizer)
    seen = capfd.readouterr()
    assert (seen.out, seen.err) == ("", "")


def test_training_references_reach_the_proposer_and_no_other_prompt(tmp_path):
    script = Asked(lambda request: "no idea" if instruction_of(request).startswith(READS) else rewritten("Try again."))
    search_with(script, tmp_path, budget=40)
    development = make_development()
    proposals = " ".join(asked_of(request) for request in script.of(REWRITES))
    others = " ".join(
        m.content for request in script.requests for m in request.messages if request not in script.of(REWRITES)
    )
    answers = {side: [e.reference.answers[0] for e in getattr(development, side)] for side in ("train", "validation")}
    assert any(f"A right answer: {answer}" in proposals for answer in answers["train"])
    assert not any(f"A right answer: {answer}\n" in proposals for answer in answers["validation"])
    assert not any(answer in others for answer in (*answers["train"], *answers["validation"]))
