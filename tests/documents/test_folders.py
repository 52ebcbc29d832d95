"""A folder is read as far as it can be: what can't be used is named and passed over, and nothing outside is read."""

import os
import socket

import pytest

from programs.documents import text
from programs.documents.text import SkippedFile, load_documents, read_text
from programs.errors import InputError

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and sockets of POSIX")


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "notes"
    inside.mkdir()
    (inside / "good.md").write_text("a good text")
    (tmp_path / "secret.txt").write_text("the secret")
    return inside


def no_text(folder):
    (folder / "bad.txt").write_bytes(b"\x00\xff\x00")


def damaged(folder):
    (folder / "bad.txt").write_bytes(("été " * 9).encode() + b"\xff")


def too_large(folder):
    (folder / "bad.txt").write_bytes(b"x" * 101)


def blank(folder):
    (folder / "bad.txt").write_bytes(b"\r\n")


def link_out(folder):
    (folder / "bad.txt").symlink_to(folder.parent / "secret.txt")


def relative_link_out(folder):
    (folder / "bad.txt").symlink_to("../secret.txt")


def link_to_a_link_out(folder):
    (folder / ".hidden").symlink_to(folder.parent)
    (folder / "bad.txt").symlink_to(".hidden/secret.txt")


def link_to_a_folder_outside(folder):
    (folder.parent / "other").mkdir()
    (folder / "bad.txt").symlink_to(folder.parent / "other")


def link_to_nowhere(folder):
    (folder / "bad.txt").symlink_to("gone.txt")


def link_to_itself(folder):
    (folder / "bad.txt").symlink_to("bad.txt")


def pipe(folder):
    os.mkfifo(folder / "bad.txt")


def listening_socket(folder):
    server = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(folder)  # the address of a socket may not be long
    try:
        server.bind("bad.txt")
    finally:
        os.chdir(here)
        server.close()


def device(folder):
    (folder / "bad.txt").symlink_to("/dev/zero")


FAULTS = [
    no_text, damaged, too_large, blank, link_out, relative_link_out, link_to_a_link_out, link_to_a_folder_outside,
    link_to_nowhere, link_to_itself, pipe, listening_socket, device,
]  # fmt: skip


@posix
@pytest.mark.parametrize("fault", FAULTS)
def test_one_file_that_can_not_be_used_is_named_and_the_rest_is_read(folder, monkeypatch, fault):
    monkeypatch.setattr(text, "LARGEST", 100)
    fault(folder)
    with pytest.warns(SkippedFile, match=r"bad\.txt") as warned:
        assert load_documents([folder]).texts == {"good.md": "a good text"}
    assert len(warned) == 1


@posix
@pytest.mark.parametrize("fault", FAULTS)
def test_a_strict_reading_refuses_what_it_would_skip(folder, monkeypatch, fault):
    monkeypatch.setattr(text, "LARGEST", 100)
    fault(folder)
    with pytest.raises(InputError, match=r"bad\.txt"):
        load_documents([folder], strict=True)


@posix
@pytest.mark.parametrize("link", [link_out, relative_link_out])
def test_a_link_that_is_named_is_read(folder, link):
    link(folder)
    assert load_documents([folder / "bad.txt"]).texts == {"bad.txt": "the secret"}


@posix
def test_a_link_inside_the_folder_is_read_once_even_where_the_folder_is_a_link_itself(folder):
    (folder / "again.md").symlink_to("good.md")
    (folder.parent / "alias").symlink_to(folder)
    assert load_documents([folder.parent / "alias"]).texts == {"again.md": "a good text"}


@posix
def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(folder):
    os.mkfifo(folder / "late.txt")
    with pytest.raises(InputError, match=r"late\.txt: can't be read: not a regular file"):
        read_text(folder / "late.txt")


def test_a_file_that_vanishes_before_it_is_read_is_skipped(folder, monkeypatch):
    (folder / "late.txt").write_text("x")
    listed = text.files_below

    def then_removed(*arguments):
        yield from list(listed(*arguments))
        (folder / "late.txt").unlink()

    monkeypatch.setattr(text, "files_below", then_removed)
    with pytest.warns(SkippedFile, match=r"late\.txt: can't be read: No such file"):
        assert list(load_documents([folder]).texts) == ["good.md"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_skipped(folder):
    (folder / "shut.txt").write_text("x")
    (folder / "shut.txt").chmod(0)
    (folder / "closed").mkdir(mode=0)
    with pytest.warns(SkippedFile, match="Permission denied"):
        assert list(load_documents([folder]).texts) == ["good.md"]


def test_a_folder_of_nothing_but_faults_says_so(tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"\0")
    with pytest.warns(SkippedFile), pytest.raises(InputError, match="none of its files could be used"):
        load_documents([tmp_path])


def test_more_than_a_question_can_be_asked_of_is_refused_with_what_to_do(folder, monkeypatch):
    monkeypatch.setattr(text, "LARGEST", 20)
    (folder / "more.md").write_text("another good text")
    with pytest.raises(InputError, match="28 characters, and a question may be asked of 20 at most; give fewer files"):
        load_documents([folder])
    monkeypatch.setattr(text, "LARGEST", 2_000_000)
    (folder / "more.md").write_bytes(b"x" * 2_000_001)
    with pytest.raises(InputError, match="larger than 2 MB"):
        load_documents([folder / "more.md"])
