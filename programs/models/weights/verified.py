"""Which files were found to be what they should be, remembered so that a gigabyte is not hashed at every start."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path

import platformdirs

from programs.errors import InputError

CACHE_VARIABLE = "STATERAG_CACHE"


def cache_folder() -> Path:
    """Give the one folder where weights and vectors are kept; the variable STATERAG_CACHE moves it."""
    folder = Path(os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("staterag")).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the cache folder {folder} can't be made ({error}); set {CACHE_VARIABLE} to another"
        ) from error
    return folder.absolute()


def known_sha256(path: Path) -> str | None:
    """Give the hash that this file had when it was last read whole, if it has not been touched since."""
    try:
        note = json.loads(_note(path).read_text(encoding="utf-8"))
        stat = path.stat()
        unchanged = (note["size"], note["mtime_ns"]) == (stat.st_size, stat.st_mtime_ns)
        return str(note["sha256"]) if unchanged else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def sha256_of(path: Path) -> str:
    """Give the file's hash, from memory where the file has not been touched since."""
    return known_sha256(path) or read_sha256(path)


def read_sha256(path: Path) -> str:
    """Read the whole file and remember its hash."""
    with path.open("rb") as content:
        before = os.fstat(content.fileno())
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    remember(path, digest, before)
    return digest


def remember(path: Path, digest: str, stat: os.stat_result) -> None:
    """Note the hash that a file had when it had this size and time."""
    note = {"path": str(path), "size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": digest}
    target = _note(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_suffix(f".{os.getpid()}-{threading.get_ident()}.part")
    draft.write_text(json.dumps(note), encoding="utf-8")
    os.replace(draft, target)


def _note(path: Path) -> Path:
    """Notes lie in the cache, since a user's own folder of weights may be read-only."""
    name = hashlib.sha256(str(path.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return cache_folder() / "verified" / f"{name}.json"
