"""Disks that run full at any point of a run: it says so in a line, and goes on to the same end once there is room.

A small file system of its own is filled where this process may mount one; elsewhere a file may not grow beyond a size.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

from tests.campaign.figures import Figures, measured
from tests.campaign.victims import TURNED_AWAY, VICTIMS
from tests.campaign.whole_runs import Unbroken, check_end, ended, run_unbroken, start

PAGE = 4096
ROOM = 64 * 2**20


def campaign(count: int, seed: int, folder: Path) -> Figures:
    """Run so many runs into a full disk, and then to their end."""
    draw = random.Random(seed)
    with measured("disks", seed, "runs on disks that are full") as figures:
        unbroken = [run_unbroken(name, folder / "unbroken" / str(i)) for i, name in enumerate(VICTIMS)]
        small_disks = can_mount(folder)
        for expected, number in zip(cycle(unbroken), range(count), strict=False):
            place = folder / str(number)
            place.mkdir()
            if small_disks and number % 3:
                fill_a_disk(expected, place, draw, figures)
            else:
                stop_files_from_growing(expected, place, draw, figures)
            figures.count += 1
            shutil.rmtree(place)
    return figures


def fill_a_disk(expected: Unbroken, place: Path, draw: random.Random, figures: Figures) -> None:
    size = draw.randrange(2 * PAGE, expected.size)
    run = place / "run"
    run.mkdir()
    with mounted(run, size):
        tell(ended(start(expected, place), expected.name, figures), expected, figures, f"a disk of {size} bytes")
        mount(run, ROOM, "remount")
        finish(expected, place, figures)


def stop_files_from_growing(expected: Unbroken, place: Path, draw: random.Random, figures: Figures) -> None:
    largest = draw.randrange(0, max(PAGE, expected.size // 3))
    child = start(expected, place, largest_file=largest)
    tell(ended(child, expected.name, figures), expected, figures, f"files of at most {largest} bytes")
    finish(expected, place, figures)


def tell(code: int | None, expected: Unbroken, figures: Figures, where: str) -> None:
    """A run ends well, if there was room enough, or is turned away with a line; it never ends in a traceback."""
    figures.kinds["there was room" if code == 0 else "full"] += 1
    figures.expect(code in (0, TURNED_AWAY, None), f"{expected.name}: a traceback on {where}")


def finish(expected: Unbroken, place: Path, figures: Figures) -> None:
    code = ended(start(expected, place), expected.name, figures)
    if figures.expect(code == 0, f"{expected.name}: ended with code {code} once there was room"):
        check_end(place / "run", expected, figures)


def can_mount(folder: Path) -> bool:
    place = folder / "may-mount"
    place.mkdir()
    try:
        with mounted(place, PAGE):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextmanager
def mounted(place: Path, size: int) -> Iterator[None]:
    mount(place, size)
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


def mount(place: Path, size: int, *options: str) -> None:
    how = ",".join((*options, f"size={size}"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", how, "none", place], check=True, capture_output=True)
