"""What a run's records depend on beside its questions: the code, the packages, the machine."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

from programs.workloads.manifest import GitState

PROJECT = "staterag"
CODE = ("programs", "signatures", "metrics", "optimize", "pyproject.toml")
"""Where a change may change a record. A run that writes into the repository does not make other code of it."""


def packages() -> dict[str, str]:
    """Give the version of this project and of each package that it requires."""
    versions = {PROJECT: metadata.version(PROJECT)}
    for requirement in metadata.requires(PROJECT) or []:
        if "extra ==" in requirement:
            continue
        name = re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0]
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def machine() -> str:
    """Describe the machine that latencies belong to, without naming it."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def git_state() -> GitState | None:
    """Give the revision that this code is at and what differs from it, or None where it is not in a repository."""
    folder = Path(__file__).resolve().parents[2]
    if not (folder / ".git").exists():
        return None
    revision = _git(folder, "rev-parse", "HEAD")
    if revision is None:
        return None
    status = _git(folder, "status", "--porcelain", "--", *CODE) or b""
    if not status:
        return GitState(revision=revision.decode().strip(), dirty=False)
    changes = hashlib.sha256(status + (_git(folder, "diff", "HEAD", "--binary", "--", *CODE) or b""))
    for line in status.splitlines():
        if line.startswith(b"?? "):
            _add_file(changes, folder / os.fsdecode(line[3:].strip(b'"')))
    return GitState(revision=revision.decode().strip(), dirty=True, changes=changes.hexdigest())


def _git(folder: Path, *arguments: str) -> bytes | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _add_file(digest: hashlib._Hash, path: Path) -> None:
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
        if file.is_file():
            digest.update(file.read_bytes())
