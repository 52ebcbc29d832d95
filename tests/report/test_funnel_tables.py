"""The funnel's tables: every stage that is known, every type, and the Verifier's and the reader's part."""

from __future__ import annotations

import math

from programs.report.funnel_tables import answer_table, funnel_table, funnel_tables, verifier_table
from programs.report.table_formats import markdown
from programs.report.tables import VALUES, blocks
from tests.report.funnels import a_funnel


def shown(table, label="all", group=0):
    """Give a row's texts by the keys of their columns."""
    line = next(line for line in blocks(table, VALUES)[group].lines if line.label == label)
    return {column.key: cell.text for column, cell in zip(table.columns, line.cells, strict=True)}


def test_counts_and_shares_of_every_stage_are_shown():
    row = shown(funnel_table([a_funnel()]))
    assert row == {
        "gold": "10",
        "completed": "9 (90.0%)",
        "reached": "8 (80.0%)",
        "candidates": "7 (70.0%)",
        "kept": "6 (60.0%)",
        "carried": "5 (50.0%)",
        "admitted": "4 (40.0%)",
        "scored": "2 (20.0%)",
        "on_path": "2 (20.0%)",
    }


def test_types_come_before_all_and_a_single_type_is_all():
    labels = [row.label for row in funnel_table([a_funnel()]).rows]
    assert labels == ["bridge", "comparison", "all"]
    assert [row.label for row in funnel_table([a_funnel(kinds={"bridge": ("admitted",)})]).rows] == ["all"]


def test_a_type_that_is_not_given_is_said_so_and_comes_last():
    kinds = {None: ("admitted",), "2hop": ("admitted",)}
    assert [row.label for row in funnel_table([a_funnel(kinds=kinds)]).rows] == ["2hop", "(no type)", "all"]


def test_a_method_without_a_state_has_dashes_where_another_has_stages():
    plain = a_funnel("vanilla", {"bridge": ("admitted", "completed")})
    table = funnel_table([plain, a_funnel()])
    row = shown(table)
    assert (row["completed"], row["admitted"]) == ("2 (100.0%)", "1 (50.0%)")
    assert {row[key] for key in ("reached", "candidates", "kept", "carried", "scored", "on_path")} == {"–"}
    assert [column.key for column in funnel_table([plain]).columns] == ["gold", "completed", "admitted"]


def test_only_stages_that_are_shown_are_explained_and_what_ended_queries_is_said():
    page = markdown(funnel_table([a_funnel("vanilla", {"bridge": ("admitted", "gold")})]))
    assert "Admitted: given to the reader" in page
    assert "Kept:" not in page
    assert "by what ended them: planner 2." in page


def test_verdicts_are_shown_by_cycle_by_type_and_for_all():
    table = verifier_table([a_funnel()])
    assert [row.label for row in table.rows] == ["cycle 1", "cycle 2", "bridge", "comparison", "all"]
    assert shown(table) == {
        "verdicts": "6",
        "PASS, all there": "2",
        "PASS, gold missing": "2",
        "FAIL, gold missing": "2",
        "FAIL, all there": "0",
        "accuracy": "0.667",
        "balanced_accuracy": "0.750",
    }
    assert shown(table, "cycle 2")["balanced_accuracy"] == "–"


def test_answers_are_shown_by_what_was_admitted():
    each = {"n": "1", "accuracy": "1.000", "f1": "0.500"}
    both = {f"{admitted}.{key}": text for admitted in (True, False) for key, text in each.items()}
    assert shown(answer_table([a_funnel()])) == both
    assert shown(answer_table([a_funnel()]), "comparison")["False.accuracy"] == "–"


def test_without_verdicts_or_answers_there_is_the_funnel_alone():
    funnel = a_funnel()
    for tally in (funnel.whole, *funnel.types.values()):
        tally.verdicts.counts.clear()
        tally.answers.clear()
    assert [table.name for table in funnel_tables([funnel])] == ["funnel"]
    assert [table.name for table in funnel_tables([a_funnel()])] == ["funnel", "verifier", "last-step"]


def test_every_number_of_the_funnel_is_a_count_in_the_csv():
    for row in funnel_table([a_funnel()]).rows:
        assert all(math.isfinite(cell.value) and cell.value == int(cell.value) for cell in row.cells)
