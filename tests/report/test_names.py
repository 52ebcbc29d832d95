"""What systems are called, and the order in which they stand."""

from __future__ import annotations

from programs.report.names import in_order, is_staterag, is_variant, method_label, workload_label


def test_a_method_has_its_printed_name_and_an_unknown_one_its_own():
    assert method_label("hipporag2") == "HippoRAG2"
    assert method_label("staterag-without-tam") == "StateRAG w/o TAM"
    assert method_label("mine") == "mine"


def test_what_is_no_variant_of_staterag_is_not_taken_for_one_by_its_name():
    assert not is_variant("staterag-of-mine")
    assert not is_variant("flat-fusion")


def test_a_system_of_one_of_several_runs_names_its_run():
    assert method_label("monday/staterag") == "StateRAG (monday)"
    assert is_staterag("monday/staterag")
    assert is_variant("monday/staterag-typed")


def test_a_workload_has_its_printed_name_and_an_unknown_one_its_own():
    assert workload_label("longbench/2wikimqa") == "2WikiMQA"
    assert workload_label("corpus/mine") == "corpus/mine"


def test_staterag_comes_last_after_its_variants_and_baselines_as_in_the_paper():
    given = [
        "staterag",
        "staterag-typed",
        "mine",
        "staterag-without-smp",
        "hipporag2",
        "vanilla",
        "a/vanilla",
        "vanilla",
    ]
    expected = ["vanilla", "a/vanilla", "hipporag2", "mine", "staterag-without-smp", "staterag-typed", "staterag"]
    assert in_order(given) == expected


def test_the_flat_control_stands_after_the_baselines_and_before_the_variants():
    given = ["staterag", "staterag-without-tam", "flat-fusion", "hipporag2"]
    assert in_order(given) == ["hipporag2", "flat-fusion", "staterag-without-tam", "staterag"]
