"""The weights of the fitted ranking: learnt from training questions, and written into a preset."""

from __future__ import annotations

import inspect

import pytest
from typer.testing import CliRunner

from optimize import ranking
from optimize.development import open_development, open_training
from optimize.ranking import app, fit, ranked, recalls, write_branch
from programs.errors import InputError
from programs.roles.fitted import ALONE, LINKED, weighed
from programs.settings import RankingSettings, load_settings
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder
from tests.support.worlds import small_settings
from tests.workloads.files import write_rows

NAMES = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel", "Iris", "Juniper", "Kapok", "Larch")


def row(number):
    """A question whose answer stands under the name that the first text gives."""
    house, maker, other = NAMES[number], NAMES[(number + 1) % 12], NAMES[(number + 2) % 12]
    texts = [
        f"{house} Hall\n\nThe hall at the river, {house} Hall, was built long ago by {maker} Wright and others of the town.",
        f"{maker} Wright\n\nA builder of bridges who came from the town of Moss{number} and stayed there for many years.",
        f"{other} Moor\n\nA moor without a path, where sheep graze and where in winter the snow lies for many weeks.",
        f"{other} Fen\n\nA fen of peat and reeds, which was drained when the canal came and is dry in most summers.",
    ]
    context = "\n".join(f"Passage {i}:\n{text}" for i, text in enumerate(texts, start=1))
    titles = [f"{house} Hall", f"{maker} Wright"]
    question = f"Where did the builder of {house} Hall come from?"
    return {
        "_id": f"q{number}",
        "input": question,
        "context": context,
        "answers": ["Moss"],
        "supporting_titles": titles,
    }


@pytest.fixture
def data(tmp_path):
    for split, numbers in (("train", range(8)), ("dev", range(8, 12))):
        write_rows(tmp_path / "longbench" / f"hotpotqa.{split}.jsonl", *(row(number) for number in numbers))
    return tmp_path


def looked(data, split):
    settings = small_settings(tam={"region_tokens": 96, "overlap_tokens": 0, "boundaries": "sentences"})
    name = "longbench/hotpotqa"
    if split == "train":
        found = open_training([name], data, None)
    else:
        found = open_development([name], data, None, None, 0.0, 0).validation
    return [ranked(example, HashedEncoder(), OverlapCrossEncoder(), settings, 40) for example in found]


def test_what_training_questions_need_is_learnt_and_holds_for_others(data):
    weights = fit(looked(data, "train"))
    assert set(weights.alone) == {*ALONE, "bias"}
    assert set(weights.linked) == {*ALONE, *LINKED, "bias"}
    assert weights.linked["headed"] > 0
    others = looked(data, "dev")
    assert recalls(others, [weighed(other.looked, weights) for other in others]).startswith("1.000 in the best 2")


def test_too_few_questions_are_refused(data):
    with pytest.raises(InputError, match="too few to fit by"):
        fit(looked(data, "train")[:3])


def test_weights_stand_in_the_preset_once_however_often_they_are_written(tmp_path):
    preset = tmp_path / "mine.toml"
    preset.write_text('[reader]\nmodel = "x"\n\n[ranking]\nalone = { bias = 1.0 }\n\n[support]\njudge = true\n')
    weights = RankingSettings(alone={"bias": 2.0}, linked={"headed": 3.0})
    for _ in range(2):
        write_branch(preset, weights)
    assert load_settings(str(preset)).ranking == weights
    assert load_settings(str(preset)).support.judge
    assert preset.read_text().count("[ranking]") == 1


def test_a_workload_without_training_questions_is_said_to_have_none(data):
    with pytest.raises(InputError, match="no file; looked at"):
        open_training(["qasper"], data, None)


def test_I11_what_is_fitted_on_is_of_the_training_split_and_nothing_can_name_another(data):
    assert {example.query.query_id for example in open_training(["longbench/hotpotqa"], data, None)} == {
        f"q{number}" for number in range(8)
    }
    assert not {"split", "questions"} & set(inspect.signature(open_training).parameters)


def test_the_command_writes_the_preset_and_says_what_it_is_worth(data, tmp_path, monkeypatch):
    monkeypatch.setattr(ranking, "open_encoder", lambda settings: HashedEncoder())
    monkeypatch.setattr(ranking, "open_cross_encoder", lambda settings: OverlapCrossEncoder())
    preset = tmp_path / "mine.toml"
    preset.write_text("[tam]\nregion_tokens = 96\n")
    given = ["--workload", "longbench/hotpotqa", "--data", str(data), "--preset", str(preset), "--out", str(preset)]
    result = CliRunner().invoke(app, [*given, "--check", "4"])
    assert result.exit_code == 0, result.output
    assert "longbench/hotpotqa, fitted: 1.000 in the best 2" in result.output
    assert "longbench/hotpotqa, fusion: " in result.output
    assert load_settings(str(preset)).ranking.linked
    missing = CliRunner().invoke(app, [*given[:-1], str(tmp_path / "no.toml")])
    assert missing.exit_code == 2
