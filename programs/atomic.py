"""Files that appear under their name whole or not at all, lines too, and what is said where the disk takes no more."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from programs.errors import StateRAGError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""What a disk says that can take no more: that it is full, or a quota or limit reached, or that it is broken."""


class CantWrite(StateRAGError):
    """A file that can't be written, since its disk takes no more."""


def is_full(error: OSError) -> bool:
    """Tell whether it is the disk, and not the program, that an error is of."""
    return error.errno in FULL


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say of a disk that takes no more which file was being written."""
    try:
        yield
    except OSError as error:
        if not is_full(error):
            raise
        raise CantWrite(
            f"{path}: can't be written: {error.strerror}; what was finished is kept: make room, and go on with the "
            "same command, a run with --resume"
        ) from error


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file beside its place, flush it to the disk, and move it there in one step."""
    draft = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        with writing(path):
            file = draft.open("wb")
            try:
                yield file
                file.flush()
                os.fsync(file.fileno())
            finally:
                with suppress(OSError):  # a full disk was said by the flush
                    file.close()
            os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


class LineFile:
    """A file that lines are added to, each whole or not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with writing(path):
            self._file = path.open("ab", buffering=0)

    def add(self, line: bytes, sync: bool = False) -> None:
        """Add a line. Handed to the system it outlives the process, and a power cut too if `sync`."""
        end = os.fstat(self._file.fileno()).st_size
        with writing(self._path):
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._file.write(rest) :]
                if sync:
                    os.fsync(self._file.fileno())
            except OSError:
                with suppress(OSError):  # to cut a line takes no room
                    os.ftruncate(self._file.fileno(), end)
                raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()
