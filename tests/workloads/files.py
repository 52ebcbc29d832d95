"""Files that the tests of the loaders write."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("STATERAG_DATA") or Path(__file__).parents[3] / "shared/data")
"""The folder of real questions, where there is one."""


def write(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return path


def write_json(path: Path, value: Any) -> Path:
    return write(path, json.dumps(value, indent=1))


def write_rows(path: Path, *rows: dict[str, Any] | str) -> Path:
    """Write rows as JSON lines; a string is a line as it stands. A name that ends in .gz is gzipped."""
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=True) for row in rows]
    data = ("\n".join(lines) + "\n").encode("utf-8")
    return write(path, gzip.compress(data) if path.suffix == ".gz" else data)
