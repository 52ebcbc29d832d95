"""A short campaign with the suite: a few of each part. What a seed found is found again by STATERAG_SEED."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.campaign import clocks, documents, full_disks, kills, proposals, server_faults, writers
from tests.campaign.figures import Part

SEED = int(os.environ.get("STATERAG_SEED", "20261017"))


def holds(part: Part, count: int) -> Callable[[Path], None]:
    """Make a test that runs a part so many times and tells all that it found."""

    def test(tmp_path: Path) -> None:
        figures = part(count, SEED, tmp_path / "part")
        assert figures.count >= count
        assert not figures.findings, figures.line()

    return test


test_I8_runs_killed_at_random_instants_end_as_ones_never_killed_and_pay_for_no_call_twice = holds(kills.campaign, 20)
test_I8_I9_runs_on_a_server_of_thirty_faults_end_with_a_reason_for_each_query_and_true_tokens = holds(
    server_faults.campaign, 90
)
test_I8_runs_on_full_disks_say_so_and_go_on_to_the_same_end = holds(full_disks.campaign, 12)
test_clocks_that_jump_leave_no_negative_seconds_and_no_endless_wait = holds(clocks.campaign, 4)
test_I8_of_two_writers_one_is_refused_or_both_are_served = holds(writers.campaign, 6)
test_I1_I2_I3_I6_hostile_proposals_commit_nothing_bad_and_raise_nothing = holds(proposals.campaign, 10_000)
test_I10_I13_hostile_documents_steer_no_action_and_reach_neither_screen_nor_page_nor_network = holds(
    documents.campaign, 56
)
