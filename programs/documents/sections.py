"""Where the sections of a plain text begin: at a heading that follows running text. And what a text is headed.

A heading is told by its looks: a short line without a full stop, before a blank line, before a paragraph that stands
on one line, or before another heading. Text that is broken into lines of a page's width has no such lines, and so it
is not taken apart.
"""

from __future__ import annotations

import re
from itertools import accumulate

LONGEST = 100
"""Characters of a heading. A line with more is a paragraph that stands on one line."""
OPEN = re.compile(r"[^.!?…؟۔।。！？,;\-][\"'”’»)\]」』）]*$")
"""The end of a line that neither ends a sentence nor goes on on the next line."""
REMARK = re.compile(r"\s*\([^()]*\)$")
"""What tells a heading from others of the same name: "Mercury (planet)"."""


def section_starts(text: str) -> list[int]:
    """Give the offsets at which sections begin; the beginning of the text is none of them."""
    lines = text.split("\n")
    offsets = accumulate((len(line) + 1 for line in lines), initial=0)
    starts: list[int] = []
    running = False
    for line, heading, offset in zip(lines, _headings(lines), offsets, strict=False):
        if heading and running:
            starts.append(offset)
        if line.strip():
            running = not heading
    return starts


def heading_of(text: str) -> str:
    """Give the heading that a text opens with, the last where there are several; "" where it opens with none."""
    lines = text.split("\n")
    heading = ""
    for line, is_heading in zip(lines, _headings(lines), strict=True):
        if line.strip() and not is_heading:
            break
        heading = line.strip("# \t\r") or heading
    return REMARK.sub("", heading) or heading


def body_start(text: str) -> int:
    """Give the offset of the first line that is no heading; the length of a text that has headings alone."""
    lines = text.split("\n")
    offsets = accumulate((len(line) + 1 for line in lines), initial=0)
    for line, is_heading, offset in zip(lines, _headings(lines), offsets, strict=False):
        if line.strip() and not is_heading:
            return offset
    return len(text)


def _headings(lines: list[str]) -> list[bool]:
    """Tell of each line whether it is a heading, which hangs on the line after it."""
    headings = [False] * len(lines)
    before_text = False
    for i in reversed(range(len(lines))):
        line = lines[i].strip()
        headings[i] = line.startswith("#") or (before_text and 0 < len(line) <= LONGEST and bool(OPEN.search(line)))
        before_text = headings[i] or not line or len(line) > LONGEST
    return headings
