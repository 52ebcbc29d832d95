"""The fault campaign: `python -m tests.campaign` for all of it, or parts by name.

    python -m tests.campaign                      all parts, as many as `make campaign` does
    python -m tests.campaign kills --count 50     one part, so many times
    python -m tests.campaign faults --seed 7      again what that seed decided

A line of JSON for each part goes to stdout; exits 1 if anything did not hold. `--page` also writes the table of
tests/README.md.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

from tests.campaign import clocks, documents, full_disks, fuzzes, kills, proposals, server_faults, writers
from tests.campaign.figures import Part, write_page

PARTS: dict[str, tuple[Part, int]] = {
    "kills": (kills.campaign, 1000),
    "faults": (server_faults.campaign, 1000),
    "disks": (full_disks.campaign, 200),
    "clocks": (clocks.campaign, 100),
    "writers": (writers.campaign, 100),
    "proposals": (proposals.campaign, 1_000_000),
    "documents": (documents.campaign, 500),
    "fuzz": (fuzzes.campaign, 2000),
}
"""Each part, and how many of it are a long campaign; of fuzz tests, examples of each."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaign", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; none means all")
    parser.add_argument("--count", type=int, help="how many of each part, instead of a long campaign's")
    parser.add_argument("--seed", type=int, help="what decides everything; else drawn and told")
    parser.add_argument("--page", action="store_true", help="write the table of tests/README.md")
    asked = parser.parse_args()
    unknown = [name for name in asked.parts if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}, but {', '.join(PARTS)}")
    seed = secrets.randbelow(2**32) if asked.seed is None else asked.seed
    sys.stderr.write(f"seed {seed}\n")
    done = []
    for name in asked.parts or PARTS:
        part, many = PARTS[name]
        with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
            done.append(part(many if asked.count is None else asked.count, seed, Path(folder) / name))
        sys.stdout.write(done[-1].line() + "\n")
        sys.stdout.flush()
    if asked.page:
        write_page(done)
    return 1 if any(part.found for part in done) else 0


if __name__ == "__main__":
    sys.exit(main())
