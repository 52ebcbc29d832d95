"""A run whose files were changed is not read, whoever reads it."""

from __future__ import annotations

import json
import shutil
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from metrics.record import QueryRecord
from programs import run
from programs.commands.funnel import count
from programs.errors import InputError
from programs.runner import folder as module
from programs.runner.evaluate import evaluate
from programs.runner.folder import OpenRun, RunFolder, Unchecked, is_as_written
from programs.runner.scoring import score_tables
from programs.runner.summary import summarise
from tests.support.examples import fuzzed
from tests.support.mutations import changed_bytes, changed_lines, changed_trees, hostile, taken_or_refused
from tests.support.records import sealed_row
from tests.support.runs import make_evaluation, scripted_runtime

EVALUATION = make_evaluation("vanilla,staterag", queries=6, collections=2)
MANIFEST = EVALUATION.manifest()
FILES = ("manifest.json", "references.jsonl", "records.jsonl", "summary.json")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "finished"
    evaluate(EVALUATION, MANIFEST, scripted_runtime(), folder)
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    return copied(finished, tmp_path / "run")


def copied(finished, folder, *, without=()):
    folder.mkdir(exist_ok=True)
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
        if name not in without:
            shutil.copy(finished / name, folder / name)
    return folder


def resumed(folder):
    evaluate(EVALUATION, MANIFEST, scripted_runtime(), folder, resume=True)


READERS = {
    "compare": lambda folder: invoked("compare", folder),
    "report": lambda folder: invoked("report", folder),
    "report of a table": lambda folder: invoked("report", folder, "--into", folder / "page.md", "--table", "x"),
    "funnel": lambda folder: invoked("funnel", folder),
    "eval --resume": resumed,
    "a summary": lambda folder: summarise(RunFolder(folder)),
    "tables": lambda folder: score_tables(RunFolder(folder)),
}
EVERY_READER = pytest.mark.parametrize("read", READERS.values(), ids=READERS)


def invoked(command, folder, *more):
    (folder / "page.md").write_text("<!-- table x: em -->\n<!-- end of x -->\n")
    done = CliRunner().invoke(run.app, [command, *map(str, [folder, *more])])
    if done.exit_code == 2 and "Traceback" not in done.output:
        raise InputError(done.stderr)
    assert done.exit_code == 0, done.output


def lines(folder, name="records.jsonl"):
    return (folder / name).read_bytes().splitlines(keepends=True)


def changed_answers(folder):
    """Make every reference say what was answered."""
    said = {record["query_id"]: record["answer"] for record in map(json.loads, lines(folder))}
    rows = [json.loads(line) for line in lines(folder, "references.jsonl")]
    rows = [row | {"answers": [said[row["query_id"]]]} for row in rows]
    (folder / "references.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def changed_record(folder, *, at=3, **changes):
    kept = lines(folder)
    kept[at] = json.dumps(json.loads(kept[at]) | changes, separators=(",", ":")).encode() + b"\n"
    (folder / "records.jsonl").write_bytes(b"".join(kept))


def without_checks(folder):
    rows = [json.loads(line) for line in lines(folder)]
    for row in rows:
        row.pop("check")
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@EVERY_READER
def test_I16_references_that_were_edited_to_equal_the_answers_are_refused(copy, read):
    changed_answers(copy)
    with pytest.raises(InputError, match=r"references\.jsonl: not the references that the manifest names"):
        read(copy)


@EVERY_READER
@pytest.mark.parametrize("ended", [True, False], ids=["finished", "unfinished"])
def test_I16_an_answer_that_was_edited_to_equal_its_reference_is_refused(copy, read, ended):
    if not ended:
        (copy / "summary.json").unlink()
    changed_record(copy, answer="the answer 7")
    with pytest.raises(InputError, match=r"records\.jsonl, line 4: not as it was written"):
        read(copy)


@EVERY_READER
@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept[:-1],
        lambda kept: kept[1:],
        lambda kept: kept[::-1],
        lambda kept: [],
        lambda kept: [*kept, b"{"],
    ],
    ids=["last", "first", "order", "all", "more"],
)
def test_I16_records_that_are_gone_or_in_another_order_are_refused_in_a_finished_run(copy, read, change):
    (copy / "records.jsonl").write_bytes(b"".join(change(lines(copy))))
    if read is resumed and change(lines(copy))[-1:] == [b"{"]:
        pytest.skip("half a line is dropped where a run is taken up again")
    with pytest.raises(
        InputError, match=r"not the records that summary\.json was made from|holds no records|no records"
    ):
        read(copy)


def test_I16_a_missing_file_of_references_or_records_is_no_empty_one(copy):
    (copy / "records.jsonl").unlink()
    with pytest.raises(InputError, match="not the records"):
        score_tables(RunFolder(copy))
    (copy / "references.jsonl").unlink()
    with pytest.raises(InputError, match=r"references\.jsonl: can't be read"):
        score_tables(RunFolder(copy))


def test_I16_taking_away_what_records_add_up_to_does_not_help(copy):
    without_checks(copy)
    changed_record(copy, answer="the answer 7")
    with pytest.raises(InputError, match=r"not the records that summary\.json was made from"):
        score_tables(RunFolder(copy))
    kept = lines(copy)
    (copy / "summary.json").unlink()
    (copy / "records.jsonl").write_bytes(b"".join([sealed_row(json.loads(kept[0])), *kept[1:]]))
    with pytest.raises(InputError, match=r"line 2: not as it was written"):
        score_tables(RunFolder(copy))


def test_I16_a_manifest_that_was_edited_is_not_that_of_its_records(copy):
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["questions"]["references"] = "0" * 64
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="references"):
        score_tables(RunFolder(copy))
    with pytest.raises(InputError, match="in a run of"):
        list(RunFolder(copy).records())


def test_a_run_is_refused_before_anything_is_spent_on_going_on_with_it(finished, tmp_path):
    folder = copied(finished, tmp_path / "run", without=["summary.json"])
    changed_answers(folder)
    (folder / "records.jsonl").write_bytes(b"".join(lines(folder)[:2]))
    runtime = scripted_runtime()
    with pytest.raises(InputError, match="not the references"):
        evaluate(EVALUATION, MANIFEST, runtime, folder, resume=True)
    assert runtime.reader.engine.requests == []


def test_a_run_of_an_earlier_version_is_read_with_one_plain_warning_and_can_be_gone_on_with(copy):
    without_checks(copy)
    (copy / "summary.json").write_text("{}")
    with pytest.warns(Unchecked, match="12 records of an earlier version can't be checked for changes") as told:
        assert len(score_tables(RunFolder(copy))) == 2
    assert len(told) == 1
    (copy / "records.jsonl").write_bytes(b"".join(lines(copy)[:5]))
    with pytest.warns(Unchecked):
        resumed(copy)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [len(table) for table in score_tables(RunFolder(copy))] == [6, 6]
    checks = [json.loads(line).get("check") for line in lines(copy)]
    assert [check is None for check in checks] == [True] * 5 + [False] * 7


def test_a_record_says_what_its_line_adds_up_to_and_is_given_back_as_it_was_written(tmp_path, finished):
    first = RunFolder(finished).records().__next__()
    with OpenRun.open(tmp_path, MANIFEST, EVALUATION.references, resume=False) as opened:
        given_back = opened.append(first.model_copy(update={"check": None, "answer": "ünï ✓ \n"}))
    (line,) = lines(tmp_path)
    assert is_as_written(line)
    assert QueryRecord.model_validate_json(line) == given_back
    assert list(json.loads(line))[-1] == "check"


def test_a_run_that_goes_on_has_no_summary_of_what_it_was(finished, tmp_path):
    folder = copied(finished, tmp_path / "run")
    record = next(RunFolder(folder).records())
    with OpenRun.open(folder, MANIFEST, EVALUATION.references, resume=True) as opened:
        opened.withdraw("vanilla", frozenset({record.query_id}))
        assert not (folder / "summary.json").exists()
        assert len(list(opened.records())) == 11
        opened.append(record)
        assert len(list(opened.records())) == 12


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("summary.json", b"\xff\x00", "not a summary"),
        ("summary.json", b'{"sha256": 7}', "not a summary .*sha256"),
        ("records.jsonl", b"\x1f\x8b\x00\n", "line 1: not a line of JSON"),
        ("records.jsonl", b"[" * 10_000 + b"\n", "line 1: not a line of JSON"),
        ("records.jsonl", b"{}\n", "line 1: not a QueryRecord"),
        ("records.jsonl", b"[]\n", "line 1: not a QueryRecord"),
    ],
)
def test_junk_is_said_with_its_file(copy, name, data, said):
    (copy / name).write_bytes(data)
    with pytest.raises(InputError, match=rf"{name}.*{said}"):
        score_tables(RunFolder(copy))


def test_a_line_of_any_length_is_not_read(copy, monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 10_000_000)
    with (copy / "records.jsonl").open("ab") as file:
        file.truncate(10**10)  # a hole
    with pytest.raises(InputError, match=r"line 13: longer than 10,000,000 bytes"):
        score_tables(RunFolder(copy))


def test_a_folder_in_which_nothing_can_be_written_is_said(tmp_path):
    (tmp_path / ".lock").mkdir()
    with pytest.raises(InputError, match="nothing can be written there"):
        OpenRun.open(tmp_path, MANIFEST, EVALUATION.references, resume=False)


@fuzzed(150)
@given(data=st.data())
def test_I16_whatever_is_changed_in_a_finished_run_is_refused(finished, tmp_path_factory, data):
    folder = copied(finished, tmp_path_factory.mktemp("run"))
    name = data.draw(st.sampled_from(["references.jsonl", "records.jsonl"]))
    valid = (finished / name).read_bytes()
    changed = data.draw(st.one_of(changed_lines(valid), changed_bytes(valid)))
    (folder / name).write_bytes(changed)
    said = taken_or_refused(lambda: score_tables(RunFolder(folder)))
    assert (said is None) == (changed == valid)


@fuzzed(150)
@given(data=st.data())
def test_records_that_someone_forged_are_scored_or_refused(finished, tmp_path_factory, data):
    folder = copied(finished, tmp_path_factory.mktemp("run"), without=["summary.json"])
    kept = lines(finished)
    at = data.draw(st.integers(0, len(kept) - 1))
    changed = data.draw(changed_trees(kept[at]))
    try:
        kept[at] = sealed_row(json.loads(changed))
    except (ValueError, AttributeError, UnicodeEncodeError):
        kept[at] = changed + b"\n"
    (folder / "records.jsonl").write_bytes(b"".join(kept))

    def read():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            summarise(RunFolder(folder))
            count(RunFolder(folder), None, "half")

    taken_or_refused(read)


@fuzzed(60)
@given(data=st.data())
def test_a_summary_or_a_manifest_with_anything_changed_is_taken_or_refused(finished, tmp_path_factory, data):
    folder = copied(finished, tmp_path_factory.mktemp("run"))
    name = data.draw(st.sampled_from(["summary.json", "manifest.json"]))
    (folder / name).write_bytes(data.draw(hostile((finished / name).read_bytes())))
    taken_or_refused(lambda: summarise(RunFolder(folder)))
    taken_or_refused(lambda: resumed(folder))
