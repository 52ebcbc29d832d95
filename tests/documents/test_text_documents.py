"""Files into collections: what is read, what it is called, and what is said when it can't be."""

import os
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.documents.text import SkippedFile, _unique, load_documents, read_text
from programs.errors import InputError


def write(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return path


def test_a_folder_is_read_recursively_in_the_same_order_whatever_the_file_system_says(tmp_path):
    for name in ("b/z.md", "c.rst", "a.TXT", "b/a.markdown", "b/inner/m.text"):
        write(tmp_path / name, f"text of {name}")
    collection = load_documents([tmp_path])
    assert [s.source_id for s in collection.each()] == ["a.TXT", "c.rst", "b/a.markdown", "b/z.md", "b/inner/m.text"]
    assert collection.texts["b/z.md"] == "text of b/z.md"


def test_hidden_files_and_folders_are_passed_over_without_a_warning(tmp_path):
    write(tmp_path / "seen.md", "seen")
    write(tmp_path / ".hidden.md", "no")
    write(tmp_path / ".git/config.txt", "no")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [s.source_id for s in load_documents([tmp_path]).each()] == ["seen.md"]


def test_line_ends_are_kept_and_a_byte_order_mark_is_dropped(tmp_path):
    path = write(tmp_path / "a.txt", b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert load_documents([path]).texts == {"a.txt": "one\r\ntwo\rthree\n"}


@given(text=st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1))
def test_any_utf8_text_comes_back_character_for_character(tmp_path_factory, text):
    path = write(tmp_path_factory.mktemp("utf8") / "a.txt", text)
    assert read_text(path) == (text[1:] if text.startswith("\ufeff") else text)


def test_files_of_one_name_get_ids_that_differ_and_stay_the_same(tmp_path):
    paths = [write(tmp_path / folder / "x.md", folder) for folder in ("one", "two", "three")]
    taken = write(tmp_path / "x.md#2.md", "other")
    ids = [s.source_id for s in load_documents([*paths, taken]).each()]
    assert ids == ["x.md", "x.md#2", "x.md#3", "x.md#2.md"]


@given(st.lists(st.sampled_from(["a", "b", "a#2", "a#3", "a#2#2"]), max_size=8))
def test_ids_never_repeat_and_the_first_of_a_name_keeps_it(names):
    ids = _unique(names)
    assert len(set(ids)) == len(names)
    assert all(ids[names.index(name)] == name for name in names)


def test_a_file_named_twice_is_read_once(tmp_path):
    path = write(tmp_path / "sub/a.md", "once")
    assert [s.source_id for s in load_documents([path, tmp_path, path]).each()] == ["a.md"]


def test_a_blank_file_is_skipped_with_a_warning_that_names_it(tmp_path):
    write(tmp_path / "a.md", "text")
    write(tmp_path / "blank.md", " \n\t")
    with pytest.warns(SkippedFile, match=r"blank\.md: skipped, the file is empty or blank"):
        assert list(load_documents([tmp_path]).texts) == ["a.md"]


def test_a_file_of_another_kind_in_a_folder_is_skipped_with_a_warning_that_names_it(tmp_path):
    write(tmp_path / "a.md", "text")
    write(tmp_path / "scan.pdf", b"%PDF-1.7")
    with pytest.warns(SkippedFile, match=r"scan\.pdf: skipped; text and Markdown files are read today"):
        assert list(load_documents([tmp_path]).texts) == ["a.md"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("empty.txt", b"", r"nothing to read: .*empty\.txt is empty or blank"),
        ("bom.txt", b"\xef\xbb\xbf", r"bom\.txt is empty or blank"),
        ("nul.txt", b"ab\0cd", r"nul\.txt: not a text file: NUL at character 2"),
        (
            "marked.md",
            b"\xef\xbb\xbfab\xff",
            r"marked\.md: not UTF-8, though its first bytes say so: byte 0xff at byte 5",
        ),
        ("cut.md", b"\xe2\x82\xac ok \xe2\x82", r"cut\.md: not UTF-8: byte 0xe2 at byte 7"),
        ("scan.pdf", b"%PDF-1.7", r"scan\.pdf: \.pdf files are not read; text and Markdown files are read today"),
        ("README", b"text", r"README: a file without a suffix is not read"),
    ],
)
def test_a_file_that_cant_be_used_is_an_error_that_says_where_and_why(tmp_path, name, data, message):
    with pytest.raises(InputError, match=message):
        load_documents([write(tmp_path / name, data)])


def test_a_missing_path_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.md: no such file or folder"):
        load_documents([tmp_path / "nowhere.md"])


def test_a_path_longer_than_the_system_allows_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        load_documents([tmp_path / ("who founded it? " * 500)])


def test_a_dangling_link_is_named_and_not_followed(tmp_path):
    link = tmp_path / "link.md"
    link.symlink_to(tmp_path / "gone.md")
    with pytest.raises(InputError, match=r"link\.md: neither a file nor a folder"):
        load_documents([link])


@pytest.mark.parametrize("folders", [[], ["void"]])
def test_nothing_to_read_at_all_is_an_error(tmp_path, folders):
    (tmp_path / "void").mkdir()
    with pytest.raises(InputError, match="nothing to read in"):
        load_documents([tmp_path / folder for folder in folders])


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes on POSIX alone")
def test_a_file_name_that_is_not_utf8_gets_an_id_that_can_be_written_down(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md"))
    try:
        path.write_text("text", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert list(load_documents([path]).texts) == ["caf\\xe9.md"]
