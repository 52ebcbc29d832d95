"""The paper's numbers: all there, addressed by table, method and column, and consistent with each other."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from programs.report.published import PublishedTable, published

BASELINES = ("vanilla", "react", "selfrag", "graphrag", "dosrag", "raptor", "memorag", "hipporag2")
TASKS = ("longbench/hotpotqa", "longbench/2wikimqa", "longbench/musique")


@pytest.mark.parametrize(
    ("table", "method", "column", "value"),
    [
        ("longbench", "hipporag2", "longbench/musique.ret", 111726.3),
        ("longbench", "staterag", "longbench.f1", 0.4753),
        ("documents", "graphrag", "docvqa.anls", 0.3120),
        ("documents", "staterag", "qasper.accuracy", 0.3494),
        ("ablations", "staterag-without-mars", "qasper.accuracy", 0.3003),
        ("ablation-differences", "staterag-without-smp", "longbench.f1", 6.29),
        ("carriers", "staterag-free-form", "longbench.ret", 2983.1),
        ("carrier-tokens", "staterag-typed", "longbench.tokens_aux", 3246.7),
        ("carrier-diagnostics", "staterag-free-form", "longbench.reached_reader", 592),
        ("index-tokens", "hipporag2", "longbench.tokens_index", 151851),
        ("hit-rates", "staterag", "longbench/2wikimqa.hit_rate", 29.10),
    ],
)
def test_a_printed_number_is_found_at_its_address(table, method, column, value):
    assert published().value(table, method, column) == value


def test_what_the_paper_does_not_print_is_nan():
    assert math.isnan(published().value("longbench", "my-method", "longbench.f1"))
    assert math.isnan(published().value("longbench", "staterag", "qasper.f1"))


def test_an_unknown_table_is_an_error_and_not_a_missing_number():
    with pytest.raises(KeyError):
        published().value("longbnech", "staterag", "longbench.f1")


def test_the_main_tables_have_every_method():
    for name in ("longbench", "documents"):
        assert set(published().tables[name].rows) == {*BASELINES, "staterag"}


@pytest.mark.parametrize("method", [*BASELINES, "staterag"])
@pytest.mark.parametrize("metric", ["em", "f1", "ret"])
def test_the_printed_averages_are_those_of_the_printed_tasks(method, metric):
    tasks = [published().value("longbench", method, f"{task}.{metric}") for task in TASKS]
    printed = published().value("longbench", method, f"longbench.{metric}")
    assert printed == pytest.approx(sum(tasks) / 3, abs=0.06 if metric == "ret" else 0.0006)


def test_the_printed_differences_are_those_of_the_printed_scores():
    table = published().tables["ablation-differences"]
    for method, values in table.rows.items():
        for column, value in zip(table.columns, values, strict=True):
            full, less = (published().value("ablations", name, column) for name in ("staterag", method))
            assert value == pytest.approx(100 * (full - less), abs=0.006)


def test_the_origin_names_the_papers_models_and_sizes():
    for part in ("Qwen2.5-14B", "Qwen2.5-7B", "600", "1,451", "2,000"):
        assert part in published().origin


def test_a_row_that_is_too_short_is_refused():
    with pytest.raises(ValidationError, match="must have 2 values"):
        PublishedTable(title="t", columns=("a", "b"), rows={"m": (1.0,)})
