"""What ships with the `embedded` preset: one compiled program for each method, chosen alike, behind one lock."""

from typer.testing import CliRunner

from optimize.lock import app
from programs.methods.registry import specs
from programs.methods.space import value_at
from programs.selection.compiled import read_compiled, shipped_folder
from programs.selection.configured import configure
from programs.selection.lock import read_lock
from tests.support.selections import CHOSEN

FOLDER = shipped_folder() / "embedded"
ALL_ALIKE = ("lifecycle.reader_budget", "tam.region_tokens", "tam.overlap_tokens", "tam.boundaries")


def test_every_method_ships_with_a_choice_of_the_same_number_of_trials():
    lock, _ = read_lock(FOLDER)  # which refuses files that changed since they were locked
    assert set(lock.budgets) == CHOSEN
    assert len(set(lock.budgets.values())) == 1


def test_every_method_reads_as_much_from_the_same_cuts_as_the_others():
    settings = [configure(method, "embedded").settings for method in specs()]
    for key in ALL_ALIKE:
        assert len({value_at(one, key) for one in settings}) == 1, key


def test_what_ships_can_be_tabulated_in_a_page_and_nothing_is_locked_by_it(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- table chosen: passage_recall, tokens_reader -->\n<!-- end of chosen -->\n")
    before = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    result = CliRunner().invoke(app, [str(FOLDER), "--into", str(page)])
    assert result.exit_code == 0, result.output
    rows = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(CHOSEN)
    chosen = read_compiled(FOLDER / "staterag.json", "staterag").choice.scores["macro"]["passage_recall"]
    assert f"| **StateRAG** | {chosen.mean:.3f} [{chosen.low:.3f}, {chosen.high:.3f}] |" in page.read_text()
    assert {path.name: path.read_bytes() for path in FOLDER.iterdir()} == before
