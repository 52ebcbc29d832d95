"""What ships with the `embedded` preset: one compiled program for each method, chosen alike, behind one lock."""

from programs.methods.registry import specs
from programs.methods.space import value_at
from programs.selection.compiled import shipped_folder
from programs.selection.configured import configure
from programs.selection.lock import read_lock

FOLDER = shipped_folder() / "embedded"
ALL_ALIKE = ("lifecycle.reader_budget", "tam.region_tokens", "tam.overlap_tokens", "tam.boundaries")


def test_every_method_ships_with_a_choice_of_the_same_number_of_trials():
    lock, _ = read_lock(FOLDER)  # which refuses files that changed since they were locked
    assert set(lock.budgets) == set(specs())
    assert len(set(lock.budgets.values())) == 1


def test_every_method_reads_as_much_from_the_same_cuts_as_the_others():
    settings = [configure(method, "embedded").settings for method in specs()]
    for key in ALL_ALIKE:
        assert len({value_at(one, key) for one in settings}) == 1, key
