"""A branch of a preset's file, written by what fits it; every other line stays as a person wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from programs.atomic import replacing


def put_branch(preset: Path, name: str, lines: Iterable[str]) -> None:
    """Write a branch in place of the one that the preset has, or at its end."""
    text = preset.read_text(encoding="utf-8")
    branch = "\n".join([f"[{name}]", *lines, ""])
    old = re.compile(rf"^\[{re.escape(name)}\]\n.*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
    written = old.sub(lambda _: f"{branch}\n", text) if old.search(text) else f"{text.rstrip()}\n\n{branch}"
    with replacing(preset) as file:
        file.write(f"{written.rstrip()}\n".encode())
