"""A stored graph comes back equal, or not at all."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.errors import InputError
from programs.tam.store import load_graph, save_graph

TEXTS = ["red fox runs in the sea", "red fox swims", "naïve 日本 🙂\r\n whale"]


def assert_equal(one, other):
    assert np.array_equal(one.vectors, other.vectors)
    assert dataclasses.replace(one.parts, vectors=other.vectors) == other.parts
    assert [one.region_ids(n) for n in one.evidence_nodes] == [other.region_ids(n) for n in other.evidence_nodes]


@settings(max_examples=25, deadline=None)
@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=60), min_size=1, max_size=5
    )
)
def test_a_graph_is_loaded_as_it_was_saved(graph_of, texts):
    graph = graph_of(["word", *texts])
    with tempfile.TemporaryDirectory() as folder:
        save_graph(graph, Path(folder) / "new" / "graph")
        assert_equal(load_graph(Path(folder) / "new" / "graph"), graph)


def test_saving_again_replaces_the_graph_and_leaves_no_other_file(graph_of, tmp_path):
    save_graph(graph_of(TEXTS), tmp_path)
    later = graph_of(TEXTS[:1])
    save_graph(later, tmp_path)
    assert_equal(load_graph(tmp_path), later)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_save_that_breaks_off_leaves_the_old_graph(graph_of, tmp_path, monkeypatch):
    old = graph_of(TEXTS)
    save_graph(old, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}

    def full_disk(*arguments, **keywords):
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="no space"):
        save_graph(graph_of(TEXTS[:1]), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == names
    assert_equal(load_graph(tmp_path), old)


def test_any_changed_byte_is_noticed_or_harmless(graph_of, tmp_path):
    graph = graph_of(TEXTS)
    save_graph(graph, tmp_path)
    for path in sorted(tmp_path.iterdir()):
        whole = path.read_bytes()
        noticed = 0
        for place in range(0, len(whole), max(1, len(whole) // 60)):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            try:
                assert_equal(load_graph(tmp_path), graph)
            except InputError:
                noticed += 1
        assert noticed > 30
        path.write_bytes(whole)


def edited(folder, change):
    document = json.loads((folder / "graph.json").read_text())
    change(document)
    (folder / "graph.json").write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "graph.json").unlink(), "no graph.json"),
        (lambda folder: (folder / "graph.json").write_text("[1]"), "not a graph"),
        (lambda folder: (folder / "graph.json").write_bytes(b"\xff\xfe\x00"), "can't be read"),
        (lambda folder: edited(folder, lambda d: d.update(version=99)), "version 99"),
        (lambda folder: edited(folder, lambda d: d["body"]["texts"].reverse()), "hash"),
        (lambda folder: next(folder.glob("*.npz")).unlink(), "can't be read"),
        (lambda folder: next(folder.glob("*.npz")).write_bytes(b"PK"), "can't be read"),
    ],
)
def test_a_damaged_or_foreign_folder_says_what_is_wrong(graph_of, tmp_path, damage, message):
    save_graph(graph_of(TEXTS), tmp_path)
    damage(tmp_path)
    with pytest.raises(InputError, match=message):
        load_graph(tmp_path)


def test_a_folder_that_is_not_there_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"no graph\.json"):
        load_graph(tmp_path / "nowhere")


def test_vectors_of_objects_are_refused_and_never_executed(graph_of, tmp_path):
    save_graph(graph_of(TEXTS), tmp_path)
    file = next(tmp_path.glob("*.npz"))
    np.savez(file, vectors=np.array([object()], dtype=object))
    with pytest.raises(InputError, match="can't be read"):
        load_graph(tmp_path)
