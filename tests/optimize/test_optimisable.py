"""What optimisers see of a program: some predictors by name, questions without references, demonstrations that fit."""

from __future__ import annotations

import dspy
import pytest

from optimize.prompts.judge import Judge
from optimize.prompts.optimisable import OptimisableProgram, prompts_of, questions
from optimize.prompts.quotation import QuotationCheck
from optimize.prompts.trials import BudgetSpent, PromptTrials
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.selection.configured import ConfiguredMethod
from signatures.planner import Plan
from tests.optimize.prompt_world import make_development, right, settings_for
from tests.support.runs import opinions
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine


def open_student(names=("planner.propose", "reader.answer"), budget=20, context=16384):
    settings = settings_for()
    model = LanguageModel(ScriptedEngine(opinions, context=context))
    runtime = Runtime(settings, model, model, HashedEncoder(), OverlapCrossEncoder())
    development = make_development(3, 3)
    configured = ConfiguredMethod("staterag", settings)
    program = configured.open(runtime, "test")
    every = (*development.train, *development.validation)
    judge = Judge.of("source_recall", every)
    bench = PromptTrials(
        configured, prompts_of(program), runtime, development, judge, QuotationCheck(every, []), budget
    )
    return OptimisableProgram(program, names, bench), bench


def demo(words=5):
    plan = Plan(objective="find it", targets=("a pier",))
    return dspy.Example(
        augmented=True, query="word " * words, state="empty", artifacts="none", revision="none", plan=plan
    )


def test_predictors_have_the_names_of_the_program_and_none_has_a_model():
    student, _ = open_student()
    copies = (student, student.deepcopy(), student.reset_copy())
    for one in copies:
        assert [name for name, _ in one.named_predictors()] == ["planner.propose", "reader.answer"]
        assert [predictor.lm for predictor in one.predictors()] == [None, None]
    assert len({id(predictor) for one in copies for predictor in one.predictors()}) == 6


def test_questions_carry_neither_sources_nor_references():
    development = make_development()
    for asked, example in zip(questions(development.train), development.train, strict=True):
        assert set(asked.keys()) == {"question", "position"}
        assert right(example.query.position) not in str(asked)
        assert example.query.query_id not in str(asked)


def test_an_untouched_student_is_the_start_and_a_copy_of_it_runs_nothing_again():
    student, bench = open_student()
    assert student.prompts() == bench.start
    first = student(question="…", position=0)
    again = student.deepcopy()(question="…", position=0)
    assert first.record is again.record
    assert bench.made == 1


def test_calls_of_its_predictors_are_left_in_dspys_trace_run_or_remembered():
    student, _ = open_student()
    for _ in range(2):
        with dspy.context(trace=[]):
            student(question="…", position=1)
            steps = list(dspy.settings.trace)
        names = {id(predictor): name for name, predictor in student.named_predictors()}
        assert {names[id(predictor)] for predictor, _, _ in steps} <= {"planner.propose", "reader.answer"}
        asked = [inputs for predictor, inputs, _ in steps if names[id(predictor)] == "planner.propose"]
        assert all(set(inputs) == {"query", "state", "artifacts", "revision"} for inputs in asked)
        assert asked


def test_demonstrations_are_plain_json_of_all_fields_and_incomplete_ones_are_left_out():
    student, _ = open_student()
    planner = student.predictors()[0]
    planner.demos = [demo(), dspy.Example(query="only a question")]
    (kept,) = student.prompts()["planner.propose"].demos
    assert kept["plan"] == {"objective": "find it", "targets": ["a pier"]}
    assert set(kept) == {"query", "state", "artifacts", "revision", "plan"}


def test_demonstrations_take_a_quarter_of_the_models_context_at_most():
    student, _ = open_student(context=2048)
    planner = student.predictors()[0]
    planner.demos = [demo(100) for _ in range(8)]
    kept = student.prompts()["planner.propose"].demos
    assert 0 < len(kept) < 8
    planner.demos = [demo(1000)]
    assert student.prompts()["planner.propose"].demos == ()


def test_the_start_keeps_its_demonstrations_however_long_they_are():
    student, bench = open_student(context=2048)
    planner = student.predictors()[0]
    planner.demos = [demo(1000)]
    longer = {**bench.start["planner.propose"].model_dump(), "demos": student_demos(planner)}
    bench.start = {**bench.start, "planner.propose": type(bench.start["planner.propose"])(**longer)}
    assert len(student.prompts()["planner.propose"].demos) == 1


def student_demos(predictor):
    return tuple(
        {
            name: (value.model_dump(mode="json") if isinstance(value, Plan) else value)
            for name, value in one.items()
            if name != "augmented"
        }
        for one in predictor.demos
    )


def test_a_spent_budget_ends_a_run_that_is_new_and_not_one_that_is_known():
    student, bench = open_student(budget=1)
    known = student(question="…", position=0)
    with pytest.raises(BudgetSpent):
        student(question="…", position=1)
    assert student(question="…", position=0).record is known.record
    assert bench.made == 1


def test_a_batch_that_the_budget_has_no_room_for_is_not_begun():
    _, bench = open_student(budget=2)
    with pytest.raises(BudgetSpent):
        bench.run_all(bench.start, [0, 1, 2])
    assert bench.made == 0
    assert len(bench.run_all(bench.start, [0, 1, 1, 0])) == 4
